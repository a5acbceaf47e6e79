"""Fixed lists: distributions by import name, plugins by option, build tools, release dates. Nothing here is guessed at run time."""

from __future__ import annotations

import datetime
import re

# Date of the first final release of each Python (PEPs 494, 537, 569, 596, 619, 664, 693, 719, 745).
RELEASED = {
    "3.6": datetime.date(2016, 12, 23), "3.7": datetime.date(2018, 6, 27), "3.8": datetime.date(2019, 10, 14),
    "3.9": datetime.date(2020, 10, 5), "3.10": datetime.date(2021, 10, 4), "3.11": datetime.date(2022, 10, 24),
    "3.12": datetime.date(2023, 10, 2), "3.13": datetime.date(2024, 10, 7), "3.14": datetime.date(2025, 10, 7),
}

# The oldest pytest that runs on a Python, for commits older than the interpreter they get.
OLDEST_PYTEST = {"3.7": "3.10", "3.8": "5.2", "3.9": "6.0", "3.10": "6.2.5", "3.11": "7.0", "3.12": "7.4", "3.13": "8.0", "3.14": "8.4"}

# Never cut by date: the build tools of the day can't build on the interpreters of today; atomicwrites was uploaded anew in 2022.
UNDATED = (
    "setuptools", "wheel", "setuptools-scm", "flit-core", "flit", "hatchling", "hatch-vcs", "hatch-fancy-pypi-readme", "poetry-core",
    "pdm-backend", "pdm-pep517", "meson-python", "scikit-build-core", "versioneer", "calver", "pathspec", "editables", "trove-classifiers",
    "atomicwrites", "uv-build", "setuptools-git-versioning", "poetry-dynamic-versioning", "vcs-versioning",
)

# Compiled distributions: a wheel or nothing, so that the resolver steps back instead of compiling.
WHEELS_ONLY = (
    "numpy", "pandas", "scipy", "matplotlib", "pillow", "lxml", "cryptography", "h5py", "scikit-learn", "pyarrow", "numba", "llvmlite",
    "cffi", "psycopg2-binary", "grpcio", "netcdf4", "shapely", "pyproj", "bottleneck", "numexpr", "tables", "cftime", "contourpy",
    "kiwisolver", "rpds-py", "pydantic-core", "orjson", "ruff", "mypy", "pyzmq", "statsmodels", "scikit-image", "greenlet",
)

# Import name -> distribution, where the two differ or where a test suite may need it undeclared.
DISTRIBUTIONS = {
    "yaml": "pyyaml", "PIL": "pillow", "bs4": "beautifulsoup4", "dateutil": "python-dateutil", "sklearn": "scikit-learn",
    "cv2": "opencv-python-headless", "attr": "attrs", "OpenSSL": "pyopenssl", "Crypto": "pycryptodome", "git": "gitpython",
    "jwt": "pyjwt", "dotenv": "python-dotenv", "pkg_resources": "setuptools", "setuptools": "setuptools", "serial": "pyserial",
    "usb": "pyusb", "zmq": "pyzmq", "docx": "python-docx", "magic": "python-magic", "ldap": "python-ldap", "slugify": "python-slugify",
    "pytest": "pytest", "_pytest": "pytest", "hypothesis": "hypothesis", "mock": "mock", "nose": "nose", "six": "six", "pytz": "pytz",
    "simplejson": "simplejson", "freezegun": "freezegun", "responses": "responses", "requests": "requests", "requests_mock": "requests-mock",
    "httpx": "httpx", "respx": "respx", "trio": "trio", "anyio": "anyio", "aiohttp": "aiohttp", "numpy": "numpy", "pandas": "pandas",
    "scipy": "scipy", "matplotlib": "matplotlib", "lxml": "lxml", "html5lib": "html5lib", "django": "django", "flask": "flask",
    "sqlalchemy": "sqlalchemy", "toml": "toml", "tomli": "tomli", "tomlkit": "tomlkit", "click": "click", "jinja2": "jinja2",
    "pytest_mock": "pytest-mock", "pytest_asyncio": "pytest-asyncio", "pytest_httpbin": "pytest-httpbin", "pytest_subtests": "pytest-subtests",
    "pytest_cases": "pytest-cases", "pytest_lazyfixture": "pytest-lazy-fixture", "parameterized": "parameterized", "ddt": "ddt",
    "testfixtures": "testfixtures", "testtools": "testtools", "pyfakefs": "pyfakefs", "time_machine": "time-machine", "faker": "faker",
    "factory": "factory-boy", "vcr": "vcrpy", "moto": "moto", "sybil": "sybil", "syrupy": "syrupy", "snapshottest": "snapshottest",
    "psutil": "psutil", "pexpect": "pexpect", "virtualenv": "virtualenv", "build": "build", "cloudpickle": "cloudpickle", "pympler": "pympler",
    "typing_extensions": "typing-extensions", "packaging": "packaging", "coverage": "coverage", "pygments": "pygments", "docutils": "docutils",
    "tornado": "tornado", "gevent": "gevent", "eventlet": "eventlet", "twisted": "twisted", "markupsafe": "markupsafe", "werkzeug": "werkzeug",
    "itsdangerous": "itsdangerous", "mpmath": "mpmath", "defusedxml": "defusedxml", "xmltodict": "xmltodict", "cryptography": "cryptography",
    "pydantic": "pydantic", "marshmallow": "marshmallow", "networkx": "networkx", "pyparsing": "pyparsing", "certifi": "certifi", "ujson": "ujson",
    "uvloop": "uvloop", "greenlet": "greenlet", "babel": "babel", "redis": "redis", "fakeredis": "fakeredis", "boto3": "boto3", "botocore": "botocore",
    "wcwidth": "wcwidth", "colorama": "colorama", "rich": "rich", "tqdm": "tqdm", "sphinx": "sphinx", "pip": "pip", "wheel": "wheel",
}

# Option of a pytest configuration or command line -> the plugin that brings it.
PLUGIN_OPTIONS = {
    "--cov": "pytest-cov", "--no-cov": "pytest-cov", "--timeout": "pytest-timeout", "--numprocesses": "pytest-xdist", "-n": "pytest-xdist",
    "--dist": "pytest-xdist", "--flake8": "pytest-flake8", "--black": "pytest-black", "--mypy": "pytest-mypy", "--isort": "pytest-isort",
    "--benchmark": "pytest-benchmark", "--asyncio-mode": "pytest-asyncio", "--reruns": "pytest-rerunfailures", "--doctest-plus": "pytest-doctestplus",
    "--doctest-rst": "pytest-doctestplus", "--doctest-ufunc": "pytest-doctest-ufunc", "--mpl": "pytest-mpl", "--html": "pytest-html",
    "--randomly": "pytest-randomly", "--random-order": "pytest-random-order", "--socket": "pytest-socket", "--disable-socket": "pytest-socket",
    "--allow-hosts": "pytest-socket", "--snapshot": "syrupy", "--ds": "pytest-django", "--nomigrations": "pytest-django",
    "--reuse-db": "pytest-django", "--pylint": "pytest-pylint", "--ruff": "pytest-ruff", "--codeblocks": "pytest-codeblocks",
    "--remote-data": "pytest-remotedata", "--astropy-header": "pytest-astropy-header", "--picked": "pytest-picked", "--forked": "pytest-forked",
    "--instafail": "pytest-instafail", "--sugar": "pytest-sugar", "--run-parallel": "pytest-run-parallel",
    "--envfile": "pytest-dotenv", "--nbval": "nbval", "--hypothesis": "hypothesis", "--memray": "pytest-memray",
    "--spec": "pytest-spec", "--splits": "pytest-split", "--testmon": "pytest-testmon", "--regtest": "pytest-regtest",
}

# Configuration key of pytest -> plugin.
PLUGIN_SETTINGS = {
    "asyncio_mode": "pytest-asyncio", "asyncio_default_fixture_loop_scope": "pytest-asyncio", "timeout": "pytest-timeout",
    "DJANGO_SETTINGS_MODULE": "pytest-django", "env": "pytest-env", "trio_mode": "pytest-trio", "flake8-max-line-length": "pytest-flake8",
    "qt_api": "pytest-qt", "doctest_plus": "pytest-doctestplus",
}

# Fixture that a test asks for -> plugin. Only names that no project is likely to use for a fixture of its own.
PLUGIN_FIXTURES = {
    "mocker": "pytest-mock", "benchmark": "pytest-benchmark", "httpbin": "pytest-httpbin", "requests_mock": "requests-mock",
    "freezer": "pytest-freezer", "httpx_mock": "pytest-httpx", "aiohttp_client": "pytest-aiohttp",
}

PLUGIN_MARKS = {
    "asyncio": "pytest-asyncio", "trio": "pytest-trio", "django_db": "pytest-django", "vcr": "pytest-recording", "timeout": "pytest-timeout",
    "benchmark": "pytest-benchmark", "freeze_time": "pytest-freezer", "dependency": "pytest-dependency", "datafiles": "pytest-datafiles",
}


def plugin_for_option(option: str) -> str | None:
    """The plugin that brings a pytest option, by its longest known beginning."""
    name = option.split("=")[0]
    if re.fullmatch(r"-n(\d+|auto|logical)?", name):
        return "pytest-xdist"
    matches = [known for known in PLUGIN_OPTIONS if known != "-n" and (name == known or name.startswith(known + "-"))]
    return PLUGIN_OPTIONS[max(matches, key=len)] if matches else None
