import pytest

from jobs.sqlite.statements import writes


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1",
        "  select 1",
        "(SELECT 1) UNION SELECT 2",
        "EXPLAIN QUERY PLAN SELECT 1",
        "WITH due AS (SELECT 1) SELECT * FROM due",
        "PRAGMA wal_checkpoint(PASSIVE)",
        "VALUES (1)",
    ],
)
def test_reading_takes_no_lock(sql):
    assert not writes(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO t VALUES (1)",
        "\n update t SET a = 1",
        "DELETE FROM t",
        "REPLACE INTO t VALUES (1)",
        "WITH due AS (SELECT 1) UPDATE t SET a = 1",
        "BEGIN IMMEDIATE",
        "SAVEPOINT s",
        "CREATE TABLE t (a)",
        "VACUUM",
        "/* hidden */ SELECT 1",
        "",
    ],
)
def test_everything_else_takes_it(sql):
    assert writes(sql)
