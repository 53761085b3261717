"""The public sets by name: files, source, licence, and the function that makes the files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from . import converting as c
from .checking import Content
from .converting import words
from .web import Web

UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets"
MNIST = "https://ossci-datasets.s3.amazonaws.com/mnist"
ESL = "https://hastie.su.domains/ElemStatLearn/datasets"
RAETSCH = "https://github.com/tdiethe/gunnar_raetsch_benchmark_datasets/raw/master/benchmarks.mat"
# The copies that scikit-learn uses.
NEWSGROUPS = "https://ndownloader.figshare.com/files/5975967"
HOUSING = "https://ndownloader.figshare.com/files/5976036"
GENOME = (
    "https://ftp.ncbi.nlm.nih.gov/genomes/all/GCF/000/005/845/GCF_000005845.2_ASM584v2/"
    "GCF_000005845.2_ASM584v2_genomic.fna.gz"
)
PIMA, CPU_SMALL = 37, 227

UCI_LICENCE = "CC BY 4.0 (UCI Machine Learning Repository)"
NONE_STATED = "no licence is stated by the source"

Files = dict[str, Content]


@dataclass(frozen=True)
class PublicSet:
    """A set that can be fetched."""

    name: str
    files: tuple[str, ...]
    source: str
    licence: str
    make: Callable[[Web], Files]
    note: str = ""


def _one(
    name: str,
    stem: str,
    source: str,
    licence: str,
    convert: Callable[[bytes], Content],
    note: str = "",
) -> PublicSet:
    """A set of one source file and one npz file."""
    file = f"{stem}.npz"
    return PublicSet(
        name, (file,), source, licence, lambda web: {file: convert(web.content(source))}, note
    )


def _mnist(web: Web) -> Files:
    part = {
        kind: c.images(
            web.content(f"{MNIST}/{kind}-images-idx3-ubyte.gz"),
            web.content(f"{MNIST}/{kind}-labels-idx1-ubyte.gz"),
        )
        for kind in ("train", "t10k")
    }
    return {"mnist.npz": c.parts(part["train"], part["t10k"])}


def _a9a(web: Web) -> Files:
    train, test = (
        c.svmlight(web.content(f"{LIBSVM}/binary/{file}"), 123) for file in ("a9a", "a9a.t")
    )
    return {"a9a.npz": c.parts(train, test)}


def _usps(web: Web) -> Files:
    train, test = (c.zip_code(web.content(f"{ESL}/zip.{part}.gz")) for part in ("train", "test"))
    return {"usps.npz": c.parts(train, test)}


NEWS_FILES = ("news20_bydate_X.npz", "news20_bydate_y.npz", "news20_bydate_vocab.txt.xz")
SMS_FILES = ("sms_spam_X.npz", "sms_spam_y.npz", "sms_spam_vocab.txt.xz", "sms_spam_text.tsv.xz")
SMS = f"{UCI}/00228/smsspamcollection.zip"
GENOME_FILE = "ecoli_k12_mg1655.fna.xz"


def _news(web: Web) -> Files:
    return dict(zip(NEWS_FILES, c.newsgroups(web.content(NEWSGROUPS))))


def _sms(web: Web) -> Files:
    text = c.member(web.content(SMS), "SMSSpamCollection").replace(b"\r\n", b"\n")
    return dict(zip(SMS_FILES, (*c.sms_spam(text), text)))


def _diabetis(web: Web) -> Files:
    return {"raetsch_diabetis.npz": c.diabetis(web.openml(PIMA))}


def _raetsch(name: str, dtype: str = "f8") -> PublicSet:
    return _one(
        name.replace("_", "-"),
        f"raetsch_{name}",
        RAETSCH,
        NONE_STATED,
        lambda text: c.raetsch(text, name, dtype),
        "samples are checked; the 100 (20) splits are as the source has them, unchecked",
    )


BANKNOTE = ("variance", "skewness", "curtosis", "entropy")
HEART = words("age sex cp trestbps chol fbs restecg thalach exang oldpeak slope ca thal")
SPAM = words(
    "make address all num3d our over remove internet order mail receive will people report "
    "addresses free business email you credit your font num000 money hp hpl george num650 lab labs "
    "telnet num857 data num415 num85 technology num1999 parts pm direct cs meeting original "
    "project re edu table conference charSemicolon charRoundbracket charSquarebracket "
    "charExclamation charDollar charHash capitalAve capitalLong capitalTotal"
)
SQUARES = tuple(f"{column}{row}" for column in "abcdefg" for row in range(1, 7))
PIECES = ("wk_file", "wk_rank", "wr_file", "wr_rank", "bk_file", "bk_rank")
ABALONE = words(
    "sex_code length diameter height whole_weight shucked_weight viscera_weight shell_weight"
)
HOUSES = words(
    "longitude latitude housingMedianAge totalRooms totalBedrooms population households "
    "medianIncome"
)
CPU_COLUMNS = words("lread lwrite scall sread swrite fork exec rchar wchar runqsz freemem freeswap")
COVER = (
    "Elevation",
    "Aspect",
    "Slope",
    *(f"{way}_Distance_To_Hydrology" for way in ("Horizontal", "Vertical")),
    "Horizontal_Distance_To_Roadways",
    *(f"Hillshade_{time}" for time in ("9am", "Noon", "3pm")),
    "Horizontal_Distance_To_Fire_Points",
    *(f"Wilderness_Area{k}" for k in range(1, 5)),
    *(f"Soil_Type{k}" for k in range(1, 41)),
)

SETS = (
    PublicSet("mnist", ("mnist.npz",), MNIST, "CC BY-SA 3.0 (LeCun, Cortes, Burges)", _mnist),
    _one(
        "banknote",
        "banknote",
        f"{UCI}/00267/data_banknote_authentication.txt",
        UCI_LICENCE,
        lambda text: c.numeric(text, names=BANKNOTE),
    ),
    _one(
        "heart-cleveland",
        "heart_cleveland",
        f"{UCI}/heart-disease/processed.cleveland.data",
        UCI_LICENCE,
        lambda text: c.heart_cleveland(text, HEART),
        "six incomplete rows are left out",
    ),
    _one(
        "spambase",
        "spambase",
        f"{UCI}/spambase/spambase.data",
        UCI_LICENCE,
        lambda text: c.numeric(text, names=SPAM),
    ),
    _one(
        "ionosphere",
        "ionosphere",
        f"{UCI}/ionosphere/ionosphere.data",
        UCI_LICENCE,
        lambda text: c.numeric(text, label=lambda cell: 1 if cell == "g" else -1),
    ),
    PublicSet("a9a", ("a9a.npz",), f"{LIBSVM}/binary/a9a", UCI_LICENCE, _a9a, "LIBSVM's encoding"),
    _one(
        "connect-4",
        "connect4",
        f"{LIBSVM}/multiclass/connect-4",
        UCI_LICENCE,
        lambda text: c.connect4(text, SQUARES),
    ),
    _one(
        "krkopt",
        "krkopt",
        f"{UCI}/chess/king-rook-vs-king/krkopt.data",
        UCI_LICENCE,
        lambda text: c.krkopt(text, PIECES),
    ),
    _one(
        "tic-tac-toe",
        "tictactoe",
        f"{UCI}/tic-tac-toe/tic-tac-toe.data",
        UCI_LICENCE,
        c.tictactoe,
    ),
    _one(
        "internet-ads-first998",
        "internet_ads_first998",
        f"{UCI}/internet_ads/ad.data",
        UCI_LICENCE,
        lambda text: c.internet_ads(text, 998),
        "the first 998 of 3,279 rows, without feature names; not a result on the full set",
    ),
    _raetsch("banana"),
    _raetsch("breast_cancer"),
    PublicSet(
        "diabetis",
        ("raetsch_diabetis.npz",),
        f"OpenML data set {PIMA}",
        "CC0 (public domain)",
        _diabetis,
        "Pima Indians diabetes, standardised; not taken from Rätsch's archive, no splits",
    ),
    _raetsch("flare_solar", "i1"),
    _raetsch("german"),
    _raetsch("heart"),
    _raetsch("image"),
    _raetsch("ringnorm"),
    _raetsch("splice", "i1"),
    _raetsch("thyroid"),
    _raetsch("titanic"),
    _raetsch("twonorm"),
    _raetsch("waveform"),
    PublicSet("usps", ("usps.npz",), f"{ESL}/zip.train.gz", NONE_STATED, _usps),
    _one(
        "covtype-15120",
        "covtype_15120",
        f"{UCI}/covtype/covtype.data.gz",
        UCI_LICENCE,
        lambda text: c.first_rows(text, 15_120, COVER, "i2"),
        "the class-balanced first 15,120 of 581,012 rows",
    ),
    _one("w8a", "w8a", f"{LIBSVM}/binary/w8a", NONE_STATED, lambda text: c.svmlight(text, 300)),
    PublicSet("news20", NEWS_FILES, NEWSGROUPS, NONE_STATED, _news, "20 newsgroups, by date"),
    PublicSet("sms-spam", SMS_FILES, SMS, UCI_LICENCE, _sms),
    _one(
        "abalone",
        "abalone",
        f"{UCI}/abalone/abalone.data",
        UCI_LICENCE,
        lambda text: c.abalone(text, ABALONE),
    ),
    _one(
        "cadata",
        "cadata",
        HOUSING,
        NONE_STATED,
        lambda text: c.numeric(c.member(text, "cal_housing.data"), names=HOUSES, target="f8"),
    ),
    PublicSet(
        "cpusmall",
        ("cpusmall.npz",),
        f"OpenML data set {CPU_SMALL}",
        NONE_STATED,
        lambda web: {"cpusmall.npz": c.by_columns(web.openml(CPU_SMALL), CPU_COLUMNS)},
        "DELVE comp-activ, 12 columns",
    ),
    PublicSet(
        "ecoli-genome",
        (GENOME_FILE,),
        GENOME,
        "public domain (NCBI)",
        lambda web: {GENOME_FILE: c.genome(web.content(GENOME))},
        "E. coli K-12 MG1655, NC_000913.3",
    ),
)
CATALOGUE = {entry.name: entry for entry in SETS}

# Sets that the documents use and that cannot be fetched, with the reason.
UNAVAILABLE = {
    "face": "the thesis's face images (chapter 6) were never published",
    "internet-ads": (
        "no complete copy (3,279 rows) was at hand to check a conversion against; "
        "internet-ads-first998 is the part that is checked"
    ),
    "raetsch-splits": (
        "no copy of the 100 splits was at hand for breast-cancer, diabetis, flare-solar, image, "
        "splice, thyroid, twonorm and waveform; fetching these sets (except diabetis) stores the "
        "splits of the source, which are not checked"
    ),
    "covtype": "no complete copy (581,012 rows) was at hand; covtype-15120 is the checked part",
    "ecoli-genes": (
        "RefSeq revises its annotation, and EcoGene, which the verified starts come from, is no "
        "longer served; ecoli_k12_cds.tsv and ecoli_k12_verified_starts.tsv have no public address"
    ),
}
