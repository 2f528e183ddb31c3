"""All settings of the site. Whoever runs it sets environment variables (docs/settings.md), never this file."""

import zoneinfo
from datetime import timedelta
from pathlib import Path

from jobs.core.fairshare import GREATEST_WEIGHT, LEAST_WEIGHT
from jobs.core.order import ORDER_NAMES
from scheduler_site import environment, outgoing_mail
from scheduler_site.editor import EDITOR_FILES

BASE_DIR = Path(__file__).resolve().parent.parent
DEBUG = environment.flag("ROTA_DEBUG")

# --- Where everything is kept ---

DATA_DIR = environment.folder("ROTA_DATA", BASE_DIR / "var")
SECRET_KEY = environment.secret_key("ROTA_SECRET_KEY", DATA_DIR / "secret_key")
SECRETS_KEYS = environment.fernet_keys("ROTA_SECRETS_KEYS")
PORT = environment.integer("ROTA_PORT", 8000, lowest=1, highest=65535)

# --- What the scheduler may do ---

# Zones as pages show them come from the pinned tzdata package, as those that schedules are computed with do.
zoneinfo.reset_tzpath(to=())

DEFAULT_TIME_ZONE = environment.time_zone("ROTA_TIME_ZONE", "UTC")  # of new schedules
ORDER = environment.choice("ROTA_ORDER", "priority", ORDER_NAMES)  # of starts, among what is due
TENANT_WEIGHTS = environment.weights("ROTA_TENANT_WEIGHTS", lowest=LEAST_WEIGHT, highest=GREATEST_WEIGHT)
PATIENCE_SECONDS = environment.integer("ROTA_PATIENCE_SECONDS", 60, lowest=0, highest=86_400)
MIN_FREE_DISK_MB = environment.integer("ROTA_MIN_FREE_DISK_MB", 500, lowest=0, highest=10_000_000)
KEEP_WORKSPACES = environment.flag("ROTA_KEEP_WORKSPACES")
KEEP_DAYS = environment.integer("ROTA_KEEP_DAYS", 30, lowest=0, highest=36_500)  # 0: for ever
KEEP_FAILED_DAYS = environment.integer("ROTA_KEEP_FAILED_DAYS", 90, lowest=0, highest=36_500)
KEEP_INSTANCES = environment.integer("ROTA_KEEP_INSTANCES", 10_000, lowest=0, highest=2_147_483_647)  # per job
KEEP_RUNS_MB = environment.integer(
    "ROTA_KEEP_RUNS_MB", min(20_000, environment.disk_mb(DATA_DIR) // 4), lowest=0, highest=1_000_000_000
)
OUTPUT_CAP_MB = environment.integer("ROTA_OUTPUT_CAP_MB", 100, lowest=0, highest=100_000)  # per attempt
WARM_IMPORTS = environment.words("ROTA_WARM_IMPORTS")  # modules
ENVIRONMENT_TIMEOUT_SECONDS = environment.integer("ROTA_ENVIRONMENT_TIMEOUT_SECONDS", 900, lowest=1, highest=86_400)
ENVIRONMENTS_MB = environment.integer("ROTA_ENVIRONMENTS_MB", 10_000, lowest=0, highest=100_000_000)  # with the cache
ENVIRONMENTS_DAYS = environment.integer("ROTA_ENVIRONMENTS_DAYS", 30, lowest=0, highest=10_000)  # unused
LOG_CAP_MB = environment.integer("ROTA_LOG_CAP_MB", 50, lowest=2, highest=100_000)  # per attempt

# --- Whom it tells when an instance fails for good ---

NOTIFY_EMAIL = environment.words("ROTA_NOTIFY_EMAIL")  # addresses; none unless set
NOTIFY_WEBHOOK = environment.text_of_url(
    "ROTA_NOTIFY_WEBHOOK", schemes=("http", "https"), example="https://chat.example/hooks/rota"
)
DEFAULT_FROM_EMAIL = environment.text("ROTA_EMAIL_FROM", "rota@localhost")
globals().update(outgoing_mail.from_url("ROTA_EMAIL_URL"))
EMAIL_TIMEOUT = 10  # seconds; without one a server that hangs holds the notices, and the stop, for ever

# --- Database, cache, channel layer ---

DATABASES = {"default": environment.database_url("DATABASE_URL", DATA_DIR / "db.sqlite3")}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = environment.text_of_url(
    "REDIS_URL", schemes=("redis", "rediss", "unix"), example="redis://127.0.0.1:6379/0"
)
CHANNEL_LAYERS = {
    "default": {"BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer", "CONFIG": {"hosts": [REDIS_URL]}}
    if REDIS_URL
    else {"BACKEND": "channels.layers.InMemoryChannelLayer"}
}

# --- Django ---

INSTALLED_APPS = [
    "django.contrib.admin.apps.SimpleAdminConfig",  # its pages are loaded by urls.py: only the web needs them
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "scheduler_site.apps.StaticFiles",
    "scheduler_site.apps.SignIns",
    "ninja",
    "jobs",
    "jobs.examples",
    "dashboard",
    *environment.apps("ROTA_APPS"),  # whose jobs.py has functions that may be made jobs
]
MIDDLEWARE = [
    "scheduler_site.content_security.content_security_policy",
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "axes.middleware.AxesMiddleware",
    "scheduler_site.database_answers.DatabaseAnswers",
]
ROOT_URLCONF = "scheduler_site.urls"
ASGI_APPLICATION = "scheduler_site.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

LANGUAGE_CODE = "en"
USE_TZ = True
TIME_ZONE = "UTC"

# --- Static files: collected and hashed by `manage.py bootstrap`, served by the ASGI process (asgi.py) ---

STATIC_URL = "static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "scheduler_site.frontend.PackageFilesFinder",
]
FRONTEND_FILES = {
    "vendor/ansi_up.js": "ansi_up/ansi_up.js",
    "vendor/uPlot.js": "uplot/dist/uPlot.esm.js",
    "vendor/uPlot.css": "uplot/dist/uPlot.min.css",
} | EDITOR_FILES
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "scheduler_site.frontend.HashedFilesStorage"
    },
}

# --- Behind a proxy: docs/proxy.md ---

SUB_PATH = environment.sub_path("ROTA_SUB_PATH")
FORCE_SCRIPT_NAME = SUB_PATH or None
SESSION_COOKIE_PATH = CSRF_COOKIE_PATH = f"{SUB_PATH}/"  # what else lives on this host neither sees nor loses them
TRUSTED_PROXY = environment.networks("ROTA_TRUSTED_PROXY")

# --- Who may come in ---

ALLOWED_HOSTS = environment.words("ROTA_ALLOWED_HOSTS", ("localhost", "127.0.0.1", "[::1]"))
# Behind a proxy that ends TLS, a form's Origin is https:// while the request looks like http://.
CSRF_TRUSTED_ORIGINS = [f"https://{'*' if host.startswith('.') else ''}{host}" for host in ALLOWED_HOSTS if host != "*"]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "overview"
LOGOUT_REDIRECT_URL = "login"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"]
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]  # a stranger elsewhere cannot lock a user out
AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = timedelta(minutes=10)
AXES_RESET_ON_SUCCESS = True
AXES_DISABLE_ACCESS_LOG = True
AXES_VERBOSE = False
AXES_LOCKOUT_TEMPLATE = "registration/locked.html"
