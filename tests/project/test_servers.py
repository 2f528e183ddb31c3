"""That the servers and the browser which other tests build on are real ones."""

from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from asgiref.sync import async_to_sync
from channels_redis.pubsub import RedisPubSubChannelLayer
from django.contrib.auth.models import Group
from django.db import connection, connections, transaction

from tests.waiting import until


def count_on_other_thread():
    with ThreadPoolExecutor(1) as thread:
        counted = thread.submit(Group.objects.count).result()
        thread.submit(connections.close_all).result()
        return counted


def test_threads_have_connections_of_their_own(each_database):
    with transaction.atomic():
        Group.objects.create(name="uncommitted")
        assert count_on_other_thread() == 0
    assert count_on_other_thread() == 1


@pytest.mark.parametrize("time", [1, 2])
def test_each_test_begins_without_rows(each_database, time):
    Group.objects.create(name="left over")
    assert Group.objects.count() == 1


def test_default_alias_is_postgres(postgres_database):
    assert connection.vendor == "postgresql"


def test_two_connections_race_for_one_row(postgres_database):
    Group.objects.create(name="free")

    def claim():
        try:
            return Group.objects.filter(name="free").update(name="taken")
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as other:
        with transaction.atomic():
            assert Group.objects.filter(name="free").update(name="taken") == 1
            lost = other.submit(claim)
            until(lambda: waits_for_a_lock(postgres_database))
        assert lost.result() == 0


def waits_for_a_lock(url):
    with psycopg.connect(url) as observer:
        return observer.execute("SELECT count(*) FROM pg_locks WHERE NOT granted").fetchone()[0]


def test_default_alias_comes_back(db):
    assert connection.vendor == "sqlite"


def test_own_postgres_database_has_tables(postgres_url):
    with psycopg.connect(postgres_url) as own:
        assert own.execute("SELECT count(*) FROM auth_group").fetchone() == (0,)


def test_channel_layer_works_over_redis(redis_url):
    async def deliver():
        layer = RedisPubSubChannelLayer(hosts=[redis_url])
        channel = await layer.new_channel()
        await layer.group_add("nodes", channel)
        await layer.group_send("nodes", {"type": "sample"})
        received = await layer.receive(channel)
        await layer.flush()
        return received

    assert async_to_sync(deliver)() == {"type": "sample"}


def test_browser_shows_a_page(page):
    page.set_content("<title>Rota</title>")
    assert page.title() == "Rota"


def test_queries_are_allowed_beside_the_browser(page, db):
    assert Group.objects.count() == 0
