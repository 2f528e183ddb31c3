"""What the backend does with real connections, each on its thread."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from django.contrib.auth.models import Group
from django.db import OperationalError, connection, connections, transaction

from jobs.sqlite import lock
from tests.waiting import DEADLINE_SECONDS, until

pytestmark = pytest.mark.django_db(transaction=True)
# Python 3.12 warns of a fork beside threads; the child here only reads one row and exits.
forks = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


@pytest.fixture
def other_thread():
    """A thread with a connection of its own."""
    with thread_that_waits(DEADLINE_SECONDS) as submit:
        yield submit


@pytest.fixture
def impatient_thread():
    with thread_that_waits(0.25) as submit:
        yield submit


@contextmanager
def thread_that_waits(seconds):
    """So long at most for a lock."""

    def connect():
        connection.ensure_connection()
        connection.timeout_seconds = seconds

    with ThreadPoolExecutor(1, initializer=connect) as pool:
        yield pool.submit
        pool.submit(connections.close_all).result()


def insert(name):
    return Group.objects.create(name=name).pk


def insert_in_transaction(name):
    with transaction.atomic():
        return insert(name)


def holds_lock():
    return connection.write_lock.held_by(connections["default"])


def pragma(name):
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA {name}")
        return cursor.fetchone()[0]


def test_every_connection_is_durable(other_thread):
    assert [other_thread(pragma, name).result() for name in ("journal_mode", "synchronous")] == ["wal", 2]


def test_engine_connection_never_checkpoints(other_thread):
    def as_engine():
        lock.mark_engine_thread()
        connection.close()
        return pragma("wal_autocheckpoint")

    assert other_thread(as_engine).result() == 0


def test_writer_waits_for_the_open_transaction(other_thread):
    with transaction.atomic():
        insert("first")
        waiting = other_thread(insert_in_transaction, "second")
        until(lambda: connection.write_lock.waiting() == 1)
    assert waiting.result() > Group.objects.get(name="first").pk


def test_single_statement_waits_as_well(other_thread):
    with transaction.atomic():
        insert("first")
        waiting = other_thread(insert, "second")
        until(lambda: connection.write_lock.waiting() == 1)
    assert waiting.result()


def test_reader_does_not_wait(other_thread):
    with transaction.atomic():
        insert("unseen")
        assert other_thread(Group.objects.count).result() == 0


def test_waiting_ends_with_a_sentence(impatient_thread):
    with transaction.atomic():
        waiting = impatient_thread(insert, "second")
        with pytest.raises(OperationalError, match=r"still writing to .* after 0.25 s; try again"):
            waiting.result()


def test_failed_wait_leaves_the_connection_usable(impatient_thread):
    with transaction.atomic():
        assert isinstance(impatient_thread(insert_in_transaction, "second").exception(), OperationalError)
    assert impatient_thread(insert_in_transaction, "third").result()


def test_rollback_gives_the_lock_back():
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        insert(1 // 0)
    assert not holds_lock()


def test_failed_statement_gives_the_lock_back():
    with pytest.raises(OperationalError), connection.cursor() as cursor:
        cursor.execute("INSERT INTO nowhere VALUES (1)")
    assert not holds_lock()


def test_savepoint_neither_takes_nor_gives_it():
    with transaction.atomic():
        with transaction.atomic():
            insert("first")
        assert holds_lock()
    assert not holds_lock()


def test_closing_in_a_transaction_gives_it_back(other_thread):
    with transaction.atomic():
        insert("lost")
        connection.close()
        assert other_thread(insert, "kept").result()
    assert list(Group.objects.values_list("name", flat=True)) == ["kept"]


def test_manual_transaction_holds_it_to_the_commit(impatient_thread):
    transaction.set_autocommit(False)
    try:
        insert("first")
        assert isinstance(impatient_thread(insert, "second").exception(), OperationalError)
        transaction.commit()
        assert impatient_thread(insert, "third").result()
    finally:
        transaction.set_autocommit(True)


def test_commit_hooks_run_without_it(other_thread):
    seen = []
    with transaction.atomic():
        transaction.on_commit(lambda: seen.append(other_thread(insert, "hooked").result()))
    assert seen


def test_returned_rows_are_committed_before_they_are_read(other_thread):
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO auth_group (name) VALUES ('a'), ('b'), ('c') RETURNING name")
        assert other_thread(Group.objects.count).result() == 3
        assert [cursor.fetchone(), cursor.fetchmany(1), list(cursor)] == [("a",), [("b",)], [("c",)]]


def test_many_writers_lose_nothing():
    def write(number):
        for turn in range(10):
            (insert if turn % 2 else insert_in_transaction)(f"{number} {turn}")
        connection.close()

    threads = [threading.Thread(target=write, args=[number]) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Group.objects.count() == 40


@forks
def test_forked_child_has_a_connection_of_its_own():
    insert("before")
    held = connection.connection
    child = os.fork()
    if child == 0:
        status = 0 if connection.connection is None and Group.objects.count() == 1 else 1
        os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    assert connection.connection is held


@forks
def test_child_forked_in_a_transaction_is_not_in_it():
    with transaction.atomic():
        child = os.fork()
        if child == 0:
            os._exit(0 if Group.objects.count() == 0 and not connection.in_atomic_block else 1)
        assert os.waitpid(child, 0)[1] == 0
