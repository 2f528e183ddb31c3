import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from jobs.sqlite.lock import WriteLock, is_engine_thread, mark_engine_thread
from tests.waiting import DEADLINE_SECONDS, until


@pytest.fixture
def lock():
    return WriteLock()


@pytest.fixture
def threads():
    with ThreadPoolExecutor(8) as pool:
        yield pool


def take_turn(lock, name, order):
    assert lock.acquire(name, DEADLINE_SECONDS)
    order.append(name)
    lock.release(name)


def as_engine(function, *arguments):
    mark_engine_thread()
    return function(*arguments)


def test_free_lock_is_taken_at_once(lock):
    assert lock.acquire("page", 0)
    assert lock.held_by("page")


def test_owner_may_take_it_again(lock):
    lock.acquire("page", 0)
    assert lock.acquire("page", 0)
    lock.release("page")
    assert lock.acquire("other", 0)


def test_second_owner_gives_up_at_deadline(lock):
    lock.acquire("page", 0)
    assert not lock.acquire("other", 0.01)
    assert lock.waiting() == 0


def test_given_up_turn_is_not_handed_the_lock(lock):
    lock.acquire("page", 0)
    lock.acquire("impatient", 0.01)
    lock.release("page")
    assert lock.acquire("other", 0)


def test_release_by_a_stranger_changes_nothing(lock):
    lock.acquire("page", 0)
    lock.release("other")
    assert lock.held_by("page")


def test_engine_goes_before_pages_that_waited_longer(lock, threads):
    order = []
    lock.acquire("first", 0)
    for count, page in enumerate(("page 1", "page 2", "page 3"), start=1):
        threads.submit(take_turn, lock, page, order)
        until(lambda count=count: lock.waiting() == count)
    threads.submit(as_engine, take_turn, lock, "engine", order)
    until(lambda: lock.waiting() == 4)
    lock.release("first")
    until(lambda: len(order) == 4)
    assert order == ["engine", "page 1", "page 2", "page 3"]


def test_lock_is_handed_over_not_raced_for(lock, threads):
    order = []
    lock.acquire("first", 0)
    threads.submit(take_turn, lock, "waiter", order)
    until(lambda: lock.waiting() == 1)
    lock.release("first")
    assert lock.held_by("waiter") or order == ["waiter"]


def test_one_owner_at_a_time_under_contention(lock, threads):
    inside, most, owners = [], [], [object() for _ in range(6)]

    def work(number):
        for _ in range(200):
            assert lock.acquire(owners[number], DEADLINE_SECONDS)
            inside.append(number)
            most.append(len(inside))
            inside.pop()
            lock.release(owners[number])

    for done in [threads.submit(as_engine if number == 0 else lambda f, n: f(n), work, number) for number in range(6)]:
        done.result()
    assert set(most) == {1}


def test_marking_concerns_only_the_calling_thread(threads):
    def marked():
        mark_engine_thread()
        return is_engine_thread()

    assert threads.submit(marked).result()
    assert not is_engine_thread()


def test_lock_may_be_released_by_another_thread(lock):
    lock.acquire("page", 0)
    thread = threading.Thread(target=lock.release, args=["page"])
    thread.start()
    thread.join()
    assert lock.acquire("other", 0)
