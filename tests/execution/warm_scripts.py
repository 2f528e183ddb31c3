"""Sixty scripts and more whose runs, cold and warm, must be the same: output, end, and what they leave.

A text is `main.py`; lines `### NAME` begin other files beside it.
"""

ENDS = {
    "nothing": "",
    "prints": "print('hello', 'żółw 🐢')",
    "exit_none": "import sys; print('x', end=''); sys.exit()",
    "exit_zero": "import sys; sys.exit(0)",
    "exit_three": "import sys; sys.exit(3)",
    "exit_text": "import sys; sys.exit('went wrong: ż')",
    "exit_big": "import sys; sys.exit(2**70 + 5)",
    "exit_negative": "import sys; sys.exit(-1)",
    "exit_float": "import sys; sys.exit(2.5)",
    "exit_true": "import sys; sys.exit(True)",
    "exit_object": "import sys; sys.exit([1, {'a': None}])",
    "exit_subclass": """
class Stop(SystemExit):
    pass
raise Stop(7)
""",
    "exit_bad_str": """
import sys
class A:
    def __str__(self): raise ValueError('no')
sys.exit(A())
""",
    "exit_in_thread": "import threading, sys\nt = threading.Thread(target=sys.exit, args=(5,)); t.start(); t.join()",
    "quit": "quit(4)",
    "os_exit": """
import os
print('kept'); print('more', end='')
os._exit(9)
""",
    "abort": "import os\nos.abort()",
    "kills_itself": "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)",
    "killed_by_usr1": "import os, signal\nos.kill(os.getpid(), signal.SIGUSR1)",
    "interrupts_itself": """
import os, signal, time
os.kill(os.getpid(), signal.SIGINT)
time.sleep(5)
""",
    "raises_interrupt": """
import atexit
atexit.register(print, 'bye')
raise KeyboardInterrupt('mine')
""",
    "catches_interrupt": """
import os, signal
try:
    os.kill(os.getpid(), signal.SIGINT)
    for _ in range(10 ** 7): pass
except KeyboardInterrupt:
    print('caught', signal.getsignal(signal.SIGINT))
""",
    "segfault": "import ctypes\nctypes.string_at(0)",
    "segfault_faulthandler": """
import faulthandler, ctypes
faulthandler.enable()
def deep(): ctypes.string_at(0)
deep()
""",
    "atexit_order": """
import atexit, sys
class D:
    def __del__(self): print('del', sys.is_finalizing())
d = D()
atexit.register(print, 'first')
@atexit.register
def second(): print('second'); raise ValueError('in atexit')
atexit.register(print, 'third')
""",
    "atexit_exits": """
import atexit, sys
atexit.register(sys.exit, 6)
print('end')
""",
    "logging_at_exit": """
import atexit
atexit.register(print, 'before logging is imported')
import logging, logging.handlers
h = logging.handlers.MemoryHandler(100, target=logging.StreamHandler())
logging.getLogger().addHandler(h)
logging.warning('kept until the end')
atexit.register(print, 'after')
""",
    "del_at_exit": """
import sys, gc, weakref
class A:
    def __init__(self, name): self.name = name
    def __del__(self): print('del', self.name, __name__, sys is None)
a = A('global'); b = A('cycle'); b.me = b; c = [A('in list')]
import json; json.mine = A('in a module')
sys.mine = A('in sys')
weakref.finalize(a, print, 'finalized')
""",
    "own_collection_callback": """
import gc, os
gc.callbacks.append(lambda phase, facts, say=os.write: say(1, phase.encode()))
gc.callbacks = None
""",
    "del_in_package": """
import os, xml, xml.etree.ElementTree
class A:
    def __init__(self, name): self.name = name
    def __del__(self, say=os.write): say(1, self.name.encode())
xml.mine = A('package'); xml.etree.ElementTree.mine = A('module'); os.mine = A('of every Python')
kept = A('global')
""",
    "profiles": """
import sys, atexit
atexit.register(print, 'end')
def profile(frame, event, arg): print(event, frame.f_code.co_name)
sys.setprofile(profile)
""",
    "own_stream_fails_at_exit": """
import io, sys
class Raw(io.RawIOBase):
    def writable(self): return True
    def write(self, data): raise OSError(28, 'full')
sys.stdout = io.TextIOWrapper(io.BufferedWriter(Raw()))
print('lost')
""",
    "c_buffers": """
import ctypes
libc = ctypes.CDLL(None)
libc.printf(b'from C')
""",
    "unraisable_at_exit": """
class A:
    def __del__(self): raise ValueError('in del')
a = A()
b = A(); b.b = b
""",
    "closes_stdout": """
import sys
print('x')
sys.stdout.close()
""",
    "detaches_stdout": """
import sys
sys.stdout.detach().write(b'raw\\n')
""",
    "closes_fd_1": """
import os, sys
os.close(1)
print('lost')
""",
    "flush_fails": """
import sys, os
sys.stdout = open(1, 'w', closefd=False)
print('kept back')
os.close(1)
""",
    "broken_pipe": """
import os, sys
r, w = os.pipe(); os.dup2(w, 1); os.close(w); os.close(r)
print('x')
""",
    "big_output": """
import sys
sys.stdout = open(1, 'w', closefd=False)
for n in range(60000): print('x' * 20)
""",
    "raw_output": """
import sys, os
sys.stdout.buffer.write(b'\\xff\\x00\\n'); os.write(1, b'raw\\n'); print('\\udcff')
""",
}

TRACEBACKS = {
    "raises": """
def f(): return 1 / 0
def g(): f()
g()
""",
    "raises_group": "raise ExceptionGroup('two', [ValueError(1), ExceptionGroup('in', [KeyError('k')])])",
    "raises_chained": """
try:
    {}['k']
except KeyError as e:
    raise RuntimeError('from') from e
""",
    "raises_in_handler": """
try:
    1 / 0
except ZeroDivisionError:
    undefined
""",
    "raises_with_note": "e = ValueError('x'); e.add_note('a note'); raise e",
    "syntax_error": "def f(:\n    pass",
    "bad_encoding": "# -*- coding: no-such -*-\n",
    "null_byte": "print(1)\n\x00",
    "raises_in_thread": """
import threading
t = threading.Thread(target=lambda: 1 / 0, name='mine'); t.start(); t.join()
""",
    "recursion": "import sys; sys.tracebacklimit = 3\ndef f(n): return f(n + 1)\nf(0)",
    "recursion_depth": """
import sys, traceback, inspect
def f(n):
    global deepest; deepest = n
    f(n + 1)
try: f(0)
except RecursionError as e: print(round(deepest, -1), e, sys.getrecursionlimit())  # 3.11 has two levels less
traceback.print_stack(); print(len(inspect.stack()))
try: sys._getframe(1)
except ValueError as e: print(e)
""",
    "excepthook": """
import sys
sys.excepthook = lambda *a: print('hook', a[0], a[2].tb_frame.f_code.co_name)
1 / 0
""",
    "excepthook_fails": """
import sys
def h(*a): raise KeyError('in hook')
sys.excepthook = h
1 / 0
""",
    "faulthandler_dump": """
import faulthandler
def f(): faulthandler.dump_traceback(all_threads=True)
f()
""",
    "traces": """
import sys
def trace(frame, event, arg): print(event, frame.f_code.co_name); return trace
sys.settrace(trace)
def f(): return 1
f()
""",
    "warns": """
import warnings
def f(): warnings.warn('shown', DeprecationWarning, stacklevel=2)
f(); warnings.warn('user'); warnings.warn('far', stacklevel=9)
import helper
print(warnings.filters)
### helper.py
import warnings
warnings.warn('hidden', DeprecationWarning)
open('never-closed', 'w')
""",
    "logs": """
import logging
logging.basicConfig(format='%(filename)s %(funcName)s %(message)s')
logging.error('x')
import psutil
print(psutil.Process().create_time() < logging._startTime + 2)
""",
}

IMPORTS = {
    "imports_beside": """
import helper, pack.inner
print(helper.N, pack.inner.__package__)
### helper.py
N = 3
### pack/__init__.py
### pack/inner.py
from . import other
### pack/other.py
print(__name__, __file__)
""",
    "relative_import": """
from . import helper
### helper.py
""",
    "shadows_library": """
import json, tempfile, random
print(json.__file__, random.MINE)
### json.py
### random.py
from _random import Random
from os import urandom as _u
MINE = 1
import math
""",
    "shadows_package": """
import traceback, email
try: import smtplib
except ImportError: traceback.print_exc()
### email.py
""",
    "vendored": """
import sys, os
sys.path.insert(0, os.path.join(os.path.dirname(__file__), 'vendor'))
import csv, _csv
print(csv.__file__)
### vendor/csv.py
print('mine')
""",
    "reloads": """
import importlib, json, sys, csv
old = json.loads
importlib.reload(json)
print(old is json.loads)
del sys.modules['csv']
import csv as again
print(again is csv)
""",
    "submodules": """
import importlib, os, urllib, xml, concurrent, email, logging, collections, encodings
for m in (importlib, urllib, xml, concurrent, email, logging, collections, encodings, os):
    print(m.__name__, sorted(n for n, v in vars(m).items() if type(v) is type(os)))
""",
    "all_modules": """
import sys
print(sorted(sys.modules))
import json, asyncio, sqlite3, urllib.request, logging.handlers
import xml.etree.ElementTree, typing, collections.abc, importlib.metadata, tempfile, ctypes, decimal
print(sorted(sys.modules))
import threading, atexit
print(atexit._ncallbacks())
print([n for n, m in sys.modules.items() if getattr(m, '__spec__', None) is None])
""",
    "module_identity": """
import functools, _functools, itertools, collections, _collections, datetime, _datetime, types
print(functools.partial is _functools.partial, collections.deque is _collections.deque,
      datetime.date is _datetime.date)
import json.decoder, json
print(json.decoder is json.JSONDecoder)
import enum, signal, re, dataclasses, pickle, copyreg
print(isinstance(signal.SIGINT, enum.IntEnum))
print(pickle.loads(pickle.dumps(re.compile('a'))), re.Pattern in copyreg.dispatch_table)
""",
    "missing_module": "import no_such_module_at_all",
    "site_packages": """
import sys, django, psutil
print(django.VERSION, psutil.__name__, sys.modules['django'].__spec__.origin)
""",
    "import_fails": """
import traceback
for name in ('raises', 'lacks', 'broken', 'circle'):
    try: __import__(name)
    except Exception: traceback.print_exc()
import raises
### raises.py
def f(): raise KeyError('x')
f()
### lacks.py
import no_such_module_at_all
### broken.py
def f(:
### circle.py
import circle_too
### circle_too.py
from circle import nothing
""",
    "import_warns": """
import old, cgi
### old.py
import warnings
warnings.warn('for who imports it', DeprecationWarning, stacklevel=2)
warnings.warn('beyond', stacklevel=3)
import sys; print(sys._getframe(1).f_code.co_name, sys._getframe(3).f_code.co_name)
""",
    "import_by_hand": """
import importlib.util, sys
spec = importlib.util.find_spec('json'); one = importlib.util.module_from_spec(spec)
two = importlib.util.module_from_spec(spec)
spec.loader.exec_module(one); spec.loader.exec_module(two)
print(one.loads('1'), two.loads('2'), 'json' in sys.modules, type(spec.loader), type(one.__spec__.loader))
spec = importlib.util.find_spec('csv'); spec.loader = importlib.util.LazyLoader(spec.loader)
sys.modules['csv'] = lazy = importlib.util.module_from_spec(spec); spec.loader.exec_module(lazy)
print(type(lazy), lazy.reader, type(lazy))
""",
    "runpy": """
import runpy, sys
print(sorted(runpy.run_path(__file__.replace('main', 'other'), run_name='x')))
sys.argv = ['m', 'a']
runpy.run_module('helper', run_name='__main__', alter_sys=True)
### other.py
print(__name__)
### helper.py
import sys
print(__name__, sys.argv)
""",
    "zipapp": """
import zipapp, os, subprocess, sys
os.mkdir('app'); open('app/__main__.py', 'w').write('import lib')
open('app/lib.py', 'w').write('print(__name__, __file__)')
for name in ('__main__', 'lib'): os.utime(f'app/{name}.py', (10 ** 9, 10 ** 9))
zipapp.create_archive('app', 'app.pyz')
subprocess.run([sys.executable, 'app.pyz'])
sys.path.insert(0, 'app.pyz')
import lib
""",
    "main_pickles": """
import pickle, dataclasses
@dataclasses.dataclass
class P:
    x: int
print(pickle.loads(pickle.dumps(P(3))), P.__module__, __annotations__)
n: int = 3
print(__annotations__)
""",
    "help_and_names": """
print(__name__, __file__, __spec__, __doc__, __package__, __builtins__, exit, copyright is not None)
print(list(vars()))
import __main__, sys
print(__main__ is sys.modules['__main__'], type(__loader__))
""",
}

SURROUNDINGS = {
    "flags": """
import sys
print(sys.flags, sys._xoptions, sys.warnoptions, sys.dont_write_bytecode, sys.pycache_prefix)
""",
    "paths": """
import sys, site
print(sys.argv, sys.orig_argv, sys.path, sys.executable, sys._base_executable, sys.prefix)
print(site.ENABLE_USER_SITE, site.getsitepackages(), sys.meta_path[-3:], len(sys.meta_path), len(sys.path_hooks))
""",
    "streams": """
import sys
for name in ('stdin', 'stdout', 'stderr'):
    f = getattr(sys, name)
    print(f, f.encoding, f.errors, f.newlines, f.line_buffering, f.write_through, f.name, f.mode, f.isatty())
    print(f.buffer, getattr(f.buffer, 'raw', None), f is getattr(sys, f'__{name}__'), f.seekable(), f.fileno())
""",
    "reads_stdin": """
import sys
print(repr(sys.stdin.read()), repr(sys.stdin.buffer.read()))
input('more? ')
""",
    "breakpoint": """
x = 1
breakpoint()
print('after')
""",
    "environment": """
import os, posix, ctypes
print(dict(os.environ)); print(posix.environ == os.environb, os.getenvb(b'A'))
libc = ctypes.CDLL(None); libc.getenv.restype = ctypes.c_char_p
print(libc.getenv(b'A'))
os.system('echo $A $LANG $HOME'); print(open('/proc/self/environ').read().split('\\0'))
os.environ['B'] = 'b'; del os.environ['A']; os.system('echo [$A] [$B]')
""",
    "titles": """
import os
print(open('/proc/self/cmdline').read().split('\\0'), open('/proc/self/comm').read())
print(os.readlink('/proc/self/exe'), os.getcwd(), oct(os.umask(0)))
""",
    "descriptors": """
import os
print(sorted(os.listdir('/proc/self/fd'), key=int))
print([os.fstat(n).st_mode >> 12 for n in range(3)])
""",
    "ids": """
import os, threading
print(os.getpid() == os.getsid(0) == os.getpgrp() == threading.get_native_id())
print(os.nice(0), os.getppid() > 1, len(os.listdir('/proc/self/task')))
""",
    "signals": """
import signal
print([(n, signal.getsignal(n)) for n in signal.valid_signals() if signal.getsignal(n) is not signal.SIG_DFL])
print(signal.pthread_sigmask(0, ()), signal.sigpending())
print(signal.set_wakeup_fd(-1), signal.getitimer(0))
""",
    "handles_signals": """
import signal, os, time
alarms = []
signal.signal(signal.SIGALRM, lambda n, f: alarms.append(print('alarm', f.f_code.co_name)))
signal.setitimer(signal.ITIMER_REAL, 0.05)
while not alarms: time.sleep(0.01)
signal.signal(signal.SIGCHLD, lambda *a: print('child'))
pid = os.fork()
if not pid: os._exit(3)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
""",
    "locale": """
import locale, sys, time
print(locale.setlocale(locale.LC_ALL), locale.getlocale(), locale.getencoding())
print(locale.setlocale(locale.LC_ALL, ''), sys.getfilesystemencoding(), sys.getfilesystemencodeerrors())
print(open('f', 'w').encoding, time.strftime('%A', time.gmtime(0)))
""",
    "time_zone": """
import time, datetime
print(time.tzname, time.timezone, time.daylight)
print(datetime.datetime.fromtimestamp(0).isoformat(), time.localtime(0).tm_zone)
""",
    "gc": """
import gc, sys
print(gc.isenabled(), gc.get_threshold(), gc.garbage, gc.get_debug(), sys.getswitchinterval())
class A: pass
a = A(); a.a = a; del a
print(gc.collect() > 0, [type(o) for o in gc.get_objects() if type(o) is A])
""",
}

WORLD = {
    "threads_at_exit": """
import threading, time
def f(): threading.main_thread().join(); print('thread', threading.main_thread().is_alive())
threading.Thread(target=f).start()
print(threading.active_count(), threading.current_thread().name)
""",
    "daemon_at_exit": """
import threading, time
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
print('end')
""",
    "thread_pool_at_exit": """
import concurrent.futures, threading, time
p, ended = concurrent.futures.ThreadPoolExecutor(2), threading.Event()
fs = [p.submit(lambda n: (ended.wait(), print('done', n)), n) for n in (1,)]
print('end')
ended.set()
""",
    "thread_shutdown_hooks": """
import threading
threading._register_atexit(print, 'threading ends')
print(threading.enumerate()[0].name)
""",
    "asyncio": """
import asyncio, signal
async def main():
    p = await asyncio.create_subprocess_exec('echo', 'child', stdout=asyncio.subprocess.PIPE)
    print((await p.communicate())[0], await asyncio.to_thread(lambda: 5))
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, print, 'usr1')
    signal.raise_signal(signal.SIGUSR1); await asyncio.sleep(0.01)
asyncio.run(main())
""",
    "asyncio_interrupted": """
import asyncio, signal
async def main():
    signal.raise_signal(signal.SIGINT)
    await asyncio.sleep(9)
asyncio.run(main())
""",
    "subprocesses": """
import subprocess, sys, os
print(subprocess.run(['cat'], input='in', text=True, capture_output=True))
print(subprocess.run([sys.executable, '-c', 'import sys; print(sys.flags.isolated, sys.argv)']).returncode)
os.system('yes | head -n 1; echo $0'); print(subprocess.call('kill -9 $$', shell=True))
""",
    "leaves_processes": """
import subprocess
subprocess.Popen(['sleep', '600'])
print('gone')
""",
    "forks": """
import os, sys
print('before')
pid = os.fork()
if pid == 0:
    print('child'); sys.exit(4)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
""",
    "forks_and_fails": """
import os, atexit
atexit.register(print, 'exit')
pid = os.fork()
if pid == 0:
    1 / 0
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
""",
    "execs": """
import os, sys
print('a')
os.execv(sys.executable, [sys.executable, '-c', 'print("b")'])
""",
    "process_pool_fork": """
import multiprocessing as m
def f(x): return x * x
if __name__ == '__main__':
    p = m.get_context('fork').Pool(2); print(p.map(f, range(4)), m.current_process().name); p.close(); p.join()
""",
    "spawn": """
import multiprocessing as m, sys
def f(x): return x * x, __name__, sys.flags.isolated, sys.flags.no_site, sys.argv
if __name__ == '__main__':
    p = m.get_context('spawn').Pool(1); print(p.map(f, range(2))); p.close(); p.join()
    from multiprocessing import resource_tracker; resource_tracker._resource_tracker._stop()
""",
    "forkserver": """
import multiprocessing as m, helper
if __name__ == '__main__':
    c = m.get_context('forkserver'); q = c.Queue()
    p = c.Process(target=helper.f, args=(q,)); p.start(); print(q.get()); p.join(); print(p.exitcode)
    from multiprocessing import forkserver, resource_tracker
    forkserver._forkserver._stop(); resource_tracker._resource_tracker._stop()
### helper.py
def f(q): q.put('from the child')
""",
    "random": """
import random, secrets, uuid, tempfile
random.seed(3); print(random.random(), random.choices('abc', k=5))
print(len(secrets.token_hex(4)), uuid.uuid4().version)
""",
    "tempfile": """
import tempfile, os
print(tempfile.gettempdir())
with tempfile.TemporaryDirectory(dir='.') as d: open(os.path.join(d, 'x'), 'w').close()
print(os.listdir('.'))
""",
    "writes_files": """
import os, sqlite3, json, pathlib
pathlib.Path('a/b').mkdir(parents=True)
json.dump({'x': 1}, open('a/b/c.json', 'w'))
d = sqlite3.connect('d.db'); d.execute('create table t (x)')
d.execute('insert into t values (1)'); d.commit(); print(d.execute('select * from t').fetchall())
os.chmod('a', 0o750); print(oct(os.stat('d.db').st_mode))
""",
    "library": """
import decimal, datetime, zoneinfo, statistics, hashlib, re, argparse, http.client, ssl, csv, io, typing, enum
print(decimal.getcontext(), zoneinfo.ZoneInfo('Europe/Warsaw'), hashlib.sha256(b'').hexdigest()[:9])
class C(enum.Enum): A = 1
print(C.A, typing.get_type_hints(C), ssl.create_default_context().verify_mode)
argparse.ArgumentParser().parse_args(['--no'])
""",
    "ctypes": """
import ctypes
print(ctypes.pythonapi.Py_Exit.argtypes, ctypes.CDLL(None).abs(-3), ctypes.sizeof(ctypes.c_long))
cb = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(lambda x: x + 1)
print(cb(4))
""",
    "unittest": """
import unittest
class T(unittest.TestCase):
    def test(self): self.assertEqual(1, 2)
unittest.main(verbosity=0, argv=['x', '--no-such'])
""",
}

SCRIPTS = ENDS | TRACEBACKS | IMPORTS | SURROUNDINGS | WORLD
