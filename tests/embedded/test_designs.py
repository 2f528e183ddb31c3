"""Each concept, decision and edge case of designs A and B, and of the library itself, with the test that shows it."""

import ast
from pathlib import Path

import pytest

HERE = Path(__file__).parent

DESIGN_A = {
    "jobs as commands: async, on an event loop": "asyncio::test_async_jobs_run_on_the_program_s_loop",
    "jobs as commands: blocking, on a thread": "asyncio::test_blocking_jobs_leave_the_loop_free",
    "jobs as commands: CPU-bound, in a process": "jobs::test_each_model_runs_a_job_and_keeps_its_value",
    "pools are lazy": "jobs::test_pools_are_made_when_first_needed",
    "a pool that crashes recovers": "threads::test_a_crash_fails_that_job_only",
    "priority": "jobs::test_orders_by_priority_and_by_turn",
    "timeout of a coroutine": "failures::test_a_coroutine_is_ended_by_its_time_limit",
    "timeout of a process": "failures::test_a_process_is_killed_by_its_time_limit",
    "timeout of a thread": "failures::test_a_time_limit_ends_a_thread_s_job_at_once",
    "a job's own TimeoutError is a failure": "failures::test_whatever_a_job_raises_is_a_failure",
    "retry: capped exponential backoff": "failures::test_the_wait_before_a_retry_doubles_up_to_its_cap",
    "retry: full jitter": "failures::test_full_jitter_draws_from_nothing_to_the_cap",
    "retry: waiting holds nothing": "failures::test_a_waiting_retry_holds_no_place",
    "errors that are not retried": "failures::test_an_error_that_says_so_is_not_tried_again",
    "deadline": "jobs::test_the_earliest_deadline_goes_first",
    "order: FIFO, priority": "jobs::test_orders_by_priority_and_by_turn",
    "order: aging, with keys that never change": "jobs::test_with_aging_who_waited_long_enough_goes_first",
    "order: earliest deadline first": "jobs::test_the_earliest_deadline_goes_first",
    "order: fair share per tenant": "jobs::test_tenants_take_turns_by_weight",
    "order: pluggable": "jobs::test_an_order_of_ones_own_is_taken",
    "delayed jobs": "jobs::test_a_delayed_job_starts_at_its_moment",
    "a state machine that refuses illegal moves": "jobs::test_statuses_move_only_as_the_core_allows",
    "dependencies": "dependencies::test_a_dependent_starts_when_all_before_it_have_succeeded",
    "dependencies cascade failure": "dependencies::test_a_failure_cascades_and_names_the_first",
    "dependencies cascade cancellation": "dependencies::test_a_cancel_cascades",
    "submit edge: upstream already failed": "dependencies::test_who_depends_on_what_has_failed_ends_at_once",
    "submit edge: upstream already done": "dependencies::test_who_depends_on_what_is_done_does_not_wait",
    "submit edge: upstream unknown": "dependencies::test_an_unknown_upstream_is_refused",
    "submit edge: upstream named twice": "dependencies::test_an_upstream_named_twice_is_one",
    "recurring: fixed rate": "series::test_fixed_rate_fires_every_period",
    "recurring: coalescing": "series::test_after_a_pause_there_is_one_run",
    "recurring: overlap guard": "series::test_a_fire_during_a_run_is_skipped_and_counted",
    "recurring: an abandoned thread keeps the guard": "series::test_an_abandoned_run_keeps_the_overlap_guard",
    "recurring: cancel, the current run ends": "series::test_cancelling_a_series_lets_the_current_run_end",
    "recurring: cancel twice": "series::test_a_series_is_cancelled_once",
    "cancel: pending": "jobs::test_a_pending_job_is_cancelled_at_once",
    "cancel: queued": "jobs::test_a_queued_job_is_cancelled_at_once",
    "cancel: running": "jobs::test_a_running_coroutine_is_cancelled",
    "cancel: running on a thread": "failures::test_a_cancelled_thread_s_job_ends_at_once",
    "cancel: running in a process": "threads::test_a_cancelled_process_is_killed",
    "cancel: waiting for a retry": "jobs::test_a_job_that_waits_for_its_retry_is_cancelled_at_once",
    "cancel: ended": "jobs::test_what_has_ended_is_not_cancelled",
    "cancel: twice": "jobs::test_a_second_cancel_says_false",
    "submit from any thread": "asyncio::test_jobs_are_submitted_from_any_thread",
    "submit before the start": "jobs::test_nothing_is_taken_before_the_start",
    "submit after the stop": "jobs::test_nothing_is_taken_after_the_stop",
    "listeners": "listeners::test_every_move_is_told_in_order",
    "listeners: a bad one harms nobody": "listeners::test_one_that_raises_harms_nobody",
    "listeners: nor does one that blocks": "listeners::test_one_that_blocks_keeps_no_job_waiting",
    "bounded history": "jobs::test_only_the_last_that_ended_are_remembered",
    "get": "jobs::test_a_job_is_found_by_its_id",
    "jobs, filtered": "jobs::test_jobs_are_filtered",
    "join": "asyncio::test_join_says_when_its_time_is_up",
    "join does not hang on a thread": "failures::test_join_does_not_wait_for_an_abandoned_thread",
    "graceful stop": "stopping::test_stop_waits_for_what_runs_and_cancels_what_waits",
    "stop with cancelling": "stopping::test_stop_with_cancel_cancels_what_runs",
    "a failure while stopping is final": "stopping::test_a_failure_while_stopping_is_final",
    "peak running": "jobs::test_no_more_than_the_limit_of_a_model_run",
    "extension: cron": "series::test_cron_fires_by_the_wall_clock",
    "extension: limits per model": "jobs::test_models_do_not_wait_for_each_other",
    "extension: token buckets": "jobs::test_a_token_bucket_says_how_often_jobs_start",
    "the demo": "examples::test_an_example_prints_what_it_is_said_to",
}

DESIGN_B = {
    "heap by moment and sequence, never early": "threads::test_delayed_jobs_start_in_order_and_never_early",
    "cancel by marking": "jobs::test_a_pending_job_is_cancelled_at_once",
    "fixed rate keeps its phase": "series::test_fixed_rate_keeps_its_phase_from_the_first_fire",
    "fixed rate does not drift": "series::test_nothing_drifts_in_a_day",
    "fixed rate skips and counts on overlap": "series::test_a_fire_during_a_run_is_skipped_and_counted",
    "fixed rate: one run after a pause": "series::test_after_a_pause_there_is_one_run",
    "fixed delay": "series::test_fixed_delay_counts_from_the_end_of_the_run",
    "initial delay": "series::test_the_first_fire_is_where_it_was_asked_for",
    "one-off jobs retry": "failures::test_what_is_submitted_once_is_tried_three_times_more",
    "repeating jobs carry on": "series::test_a_failed_run_does_not_end_its_series",
    "the watcher sleeps until the next moment": "threads::test_the_watcher_sleeps_exactly_until_the_next_moment",
    "a sooner job wakes the watcher": "threads::test_a_sooner_job_wakes_the_watcher_from_a_longer_sleep",
    "no wake-up is lost": "threads::test_ten_thousand_submits_race_the_watcher_to_sleep",
    "nor that of a lone submit": "threads::test_each_of_a_thousand_lone_submits_wakes_the_watcher",
    "no lock is held while a job runs": "threads::test_no_lock_is_held_while_a_job_runs",
    "injected clock": "clock::test_the_hand_moved_clock_stands_still",
    "shutdown with a deadline": "stopping::test_stop_gives_up_at_its_deadline",
    "shutdown does not hang on a thread": "stopping::test_stop_does_not_hang_on_a_thread",
    "time limit per run": "failures::test_a_time_limit_counts_for_each_attempt_anew",
    "a trigger that raises": "series::test_a_trigger_that_raises_harms_its_series_only",
    "signals": "threads::test_a_signal_handler_may_ask_whatever_it_interrupts",
    "Ctrl-C": "threads::test_ctrl_c_leaves_nothing_half_done",
    "extension: priorities": "jobs::test_orders_by_priority_and_by_turn",
    "extension: metrics": "series::test_a_failed_run_does_not_end_its_series",
    "the demo": "examples::test_an_example_prints_what_it_is_said_to",
}

LIBRARY = {
    "no Django": "imports::test_importing_it_loads_no_django_and_little_else",
    "no second heap": "imports::test_there_is_no_second_heap_and_no_second_pool",
    "no second state table": "imports::test_there_is_no_second_state_table",
    "no retry beside an abandoned thread": "failures::test_no_retry_starts_beside_an_abandoned_thread",
    "an abandoned thread keeps its place": "failures::test_an_abandoned_thread_keeps_its_place",
    "a token is given to the job": "failures::test_a_blocking_job_is_told_by_its_token",
    "UnknownJobError is a KeyError": "jobs::test_an_unknown_id_is_a_key_error_in_a_sentence",
    "random requests": "properties::test_every_job_ends_once_and_none_starts_too_soon",
    "random graphs": "dependencies::test_in_random_graphs_every_job_ends_as_it_must",
}


def named_in(room: str) -> set[str]:
    tree = ast.parse((HERE / f"test_{room}.py").read_text())
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


@pytest.mark.parametrize(("design", "least"), [(DESIGN_A, 60), (DESIGN_B, 25), (LIBRARY, 9)], ids=["A", "B", "library"])
def test_each_of_its_items_is_a_test(design, least):
    named = [where.split("::") for where in design.values()]
    missing = [f"{room}::{test}" for room, test in named if test not in named_in(room)]
    assert not missing
    assert len(design) >= least
