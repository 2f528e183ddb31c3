"""The first sight of a log, before a script has coloured it."""

import pytest

from dashboard.presentation.logtext import plain


@pytest.mark.parametrize(("printed", "shown"), [
    ("a long line\rshort\n", "short\n"),
    ("one\r\ntwo\r\r\n", "one\ntwo\n"),
    ("  0%\r 50%\r100%\r", "100%"),
    ("\x1b[2K\x1b[1Gstep 1\x1b[2K\x1b[1Gstep 2", "step 2"),
    ("\x1b[31mred\x1b[0m \x1b[38:2::1:2:3mtrue\x1b[m", "red true"),
    ("before \x1b[38;5;\nafter", "before \nafter"),
    ("\x1b]0;a title\x07shown", "shown"),
    ("\x1b]8;;http://x.example\x1b\\link\x1b]8;;\x1b\\.", "link."),
    ("\x1b]0;never ended\nnext", "\nnext"),
    ("\x1b7saved\x1b8 \x1b(Bset\x1b", "saved set"),
    ("spin |\b/\b-\b\\\bok\b\n", "spin ok\n"),
    (" 9%\b\b\b10%\r\b\b\b\x07", "10%"),
    ("abc\b \b\b \bX\n\b\b\bnext", "aX\nnext"),
    ("N\bNA\x1b[1m\bA\x1b[m", "NA"),
    ("a\0b\x0bc\td\u2028e\ufeff", "abc\td\u2028e\ufeff"),
])  # fmt: skip
def test_what_a_terminal_would_not_show_is_left_out(printed, shown):
    assert plain(printed) == shown


@pytest.mark.parametrize("piece", ["x", "a\r", "\x1b[1;", "\x1b]", "\x1b", " \x1b[ ", "\b", "x\b"])
def test_long_line_costs_by_its_length(piece):
    """64 kB without a line's end held the whole process for ten seconds: an expression tried each of its places."""
    assert "\n" not in plain(piece * (2_000_000 // len(piece)))
