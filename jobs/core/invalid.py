"""The one error that every reader of a schedule raises."""

TYPE, EXPRESSION, ZONE = "schedule_type", "schedule_expression", "timezone"
START, END = "start_date", "end_date"
CALENDAR_ACTION, JITTER, NOT_BEFORE = "calendar_action", "jitter_seconds", "not_before"
BLACKOUTS, BUSINESS_DAYS, HOLIDAYS = "blackouts", "business_days", "holidays"


class InvalidSchedule(ValueError):
    """A schedule, or a calendar, that is refused before anything is stored.

    field     the input at fault, by its name in the API: schedule_type, schedule_expression, timezone,
              start_date, end_date, gap, fold, and those named above
    sentence  what was given, what is expected; fit to be shown to the person who typed it
    """

    def __init__(self, field: str, sentence: str) -> None:
        super().__init__(sentence)
        self.field = field
        self.sentence = sentence
