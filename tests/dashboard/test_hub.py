import pytest

from dashboard.live.hub import ACK_SECONDS, BURST, SPACING_SECONDS, TICK, TICK_SECONDS, Hub


class FakeTopics:
    """Frames by topic; a cursor is how many of them a socket has."""

    def __init__(self, **frames):
        self.frames = frames

    def next_frame(self, topic, cursor):
        frames = self.frames.get(topic, [])
        return (frames[-1], len(frames)) if cursor < len(frames) else None


@pytest.fixture
def hub():
    return Hub()


def sent(hub, topics, now):
    return [text for _, text in hub.hand_out(now, topics.next_frame)]


def test_socket_gets_its_frame(hub):
    hub.watch("s", {"a": 0}, 0)
    assert sent(hub, FakeTopics(a=["one"]), 0) == ["one"]


def test_second_frame_waits_for_the_answer(hub):
    topics = FakeTopics(a=["one"])
    hub.watch("s", {"a": 0}, 0)
    sent(hub, topics, 0)
    topics.frames["a"].append("two")
    assert sent(hub, topics, 5) == []
    hub.answered("s")
    assert sent(hub, topics, 5) == ["two"]


def test_frames_that_were_missed_are_merged(hub):
    topics = FakeTopics(a=["one"])
    hub.watch("s", {"a": 0}, 0)
    sent(hub, topics, 0)
    topics.frames["a"] += ["two", "three", "four"]
    hub.answered("s")
    assert sent(hub, topics, 1) == ["four"]
    hub.answered("s")
    assert sent(hub, topics, 2) == []


def test_pace_is_ten_frames_a_second(hub):
    topics, frames = FakeTopics(a=[]), 0
    hub.watch("s", {"a": 0}, 0)
    for step in range(1000):  # ten seconds, something new each hundredth
        topics.frames["a"].append(str(step))
        frames += len(sent(hub, topics, step / 100))
        hub.answered("s")
    assert 10 / SPACING_SECONDS <= frames <= 10 / SPACING_SECONDS + BURST


def test_overdue_socket_is_forgotten(hub):
    hub.watch("s", {"a": 0}, 0)
    sent(hub, FakeTopics(a=["one"]), 0)
    assert hub.overdue(ACK_SECONDS - 0.01) == []
    assert hub.overdue(ACK_SECONDS) == ["s"]
    assert len(hub) == 0


def test_answered_socket_is_never_overdue(hub):
    hub.watch("s", {"a": 0}, 0)
    sent(hub, FakeTopics(a=["one"]), 0)
    hub.answered("s")
    assert hub.overdue(1000) == []


def test_never_reading_socket_costs_one_frame(hub):
    topics = FakeTopics(a=[])
    hub.watch("s", {"a": 0}, 0)
    frames = []
    for step in range(100):
        topics.frames["a"].append("x" * 1000)
        frames += sent(hub, topics, step / 20)
    assert len(frames) == 1


def test_slow_socket_holds_no_other_up(hub):
    topics = FakeTopics(a=["one"])
    hub.watch("slow", {"a": 0}, 0)
    hub.watch("fast", {"a": 0}, 0)
    sent(hub, topics, 0)
    topics.frames["a"].append("two")
    hub.answered("fast")
    assert [socket for socket, _ in hub.hand_out(1, topics.next_frame)] == ["fast"]


def test_quiet_socket_is_told_that_all_is_well(hub):
    hub.watch("s", {"a": 0}, 0)
    assert sent(hub, FakeTopics(), TICK_SECONDS - 0.01) == []
    assert sent(hub, FakeTopics(), TICK_SECONDS) == [TICK]


def test_topics_take_turns(hub):
    endless = FakeTopics(a=["log"], b=["state"])
    hub.watch("s", {"a": 0, "b": 0}, 0)
    got = []
    for now in range(4):
        got += sent(hub, endless, now)
        endless.frames["a"].append("log")
        hub.answered("s")
    assert got == ["log", "state", "log", "log"]


def test_watching_anew_replaces_topics_and_keeps_credit(hub):
    hub.watch("s", {"a": 0}, 0)
    sent(hub, FakeTopics(a=["one"]), 0)
    hub.watch("s", {"b": 0}, 1)
    assert hub.topics() == {"b"}
    assert sent(hub, FakeTopics(b=["two"]), 1) == []


def test_socket_that_left_during_hand_out_gets_nothing(hub):
    topics = FakeTopics(a=["one"])
    hub.watch("first", {"a": 0}, 0)
    hub.watch("second", {"a": 0}, 0)
    handing = hub.hand_out(0, topics.next_frame)
    next(handing)
    hub.leave("second")
    assert list(handing) == []


def test_answer_to_nothing_changes_nothing(hub):
    hub.answered("nobody")
    hub.leave("nobody")
    assert len(hub) == 0


def test_cursors_are_of_sockets_with_credit(hub):
    hub.watch("s", {"a": 0}, 0)
    hub.watch("t", {"a": 5}, 0)
    sent(hub, FakeTopics(a=["one"]), 0)
    assert hub.cursors("a") == {5}


def test_due_moment_is_the_sooner_of_frame_tick_and_overdue(hub):
    nothing, something = FakeTopics(), FakeTopics(a=["one"])
    assert hub.due_at(nothing.next_frame) is None
    hub.watch("s", {"a": 0}, 0)
    assert hub.due_at(nothing.next_frame) == TICK_SECONDS
    assert hub.due_at(something.next_frame) <= 0
    sent(hub, something, 0)
    assert hub.due_at(something.next_frame) == ACK_SECONDS
