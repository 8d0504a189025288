--- Declares every option of the experiments once: the function of an experiment checks its options
-- by these declarations, and its command reads them from the command line. They have the form of
-- ladies.command.cli. `about` says what the command does, and `usage` how it is called where that
-- is not plain; `folder` names the folder of its study of trainings, or is true where it has
-- several; with `folder`, function and command take the options of a study besides. `reads_data`
-- says that the command also takes the options of ladies.data.load. An option whose default is
-- another one with --quick has that in `quick`, and its usual default in `standard`.

local command_types = require "ladies.base.command_types"

local declared = {}

local RUNS = {"runs", "N", "positive integer"}
local QUIET = {"quiet", help = "no progress"}

-- Returns an option with another help text or default.
local function with(option, more)
  local own = table.move(option, 1, #option, 1, {})
  for key, value in pairs(more) do own[key] = value end
  return own
end

local PRESET = {"preset", "NAME", "default|paper|code", default = "default",
  help = "default, paper (the paper's text) or code (the authors' program)"}

declared.table3 = {
  reads_data = true,
  folder = "runs/table3-PRESET-1",
  about = [[Trains full batch, GraphSAGE, FastGCN, LADIES, VR-GCN and Cluster-GCN on the paper's
    data sets by its protocol, and prints F1, time, memory and batches beside the paper's.]],
  PRESET,
  with(RUNS, {standard = 10, quick = 2, help = "of each method, with the seeds 1 to N"}),
  {"quick", help = "2 runs of full batch, FastGCN (64), LADIES (64) and LADIES (512)"},
  {"datasets", "LIST", "array of strings", help = "data sets (default cora,citeseer,pubmed and, "
    .. "where it is, reddit); reddit-scale is a random graph of Reddit's size"},
  {"methods", "LIST", "array of strings", help = "methods with their samples, such as "
    .. "ladies:64,full; fastgcn:large has the paper's 1024 or 8192"},
}

declared.ablate = {
  reads_data = true,
  folder = "runs/ablate-1",
  about = [[Trains LADIES with one choice of a preset changed at a time, and with every combination
    of probabilities and united nodes, and prints test F1 with 95 % intervals.]],
  {"presets", "LIST", "array of default|paper|code", default = {"default", "paper", "code"},
    help = "where to start from"},
  {"parts", "LIST", "array of changes|cross", default = {"changes", "cross"},
    help = "changes: one choice at a time; cross: probabilities and unions"},
  with(RUNS, {default = 10, help = "of each, with the seeds 1 to N"}),
  {"samples", "N", "positive integer", default = 64, help = "nodes drawn for a layer"},
  {"datasets", "LIST", "array of strings", default = {"cora", "citeseer", "pubmed"},
    help = "data sets"},
}

declared.figures = {
  reads_data = true,
  folder = "runs/figures-PRESET-1",
  about = [[Draws the paper's figures from repeated runs: F1 over batches by number of samples, per
    epoch, by method over batches and seconds, against samples and against depth.]],
  PRESET,
  {"figures", "LIST", "array of sample_curves|epochs|convergence|samples|depth",
    default = {"sample_curves", "epochs", "convergence", "samples", "depth"},
    help = "which of them"},
  with(RUNS, {default = 5, help = "of each, with the seeds 1 to N"}),
  {"datasets", "LIST", "array of strings", help = "data sets of all figures (default pubmed for "
    .. "sample_curves and epochs, cora,citeseer,pubmed for the others)"},
}

declared.costs = {
  about = [[Measures time and memory of a batch over layers, width, batch, samples and nodes, and
    compares the fitted exponents with the complexities of the paper's Table 2.]],
  {"methods", "LIST", "array of strings",
    help = "of full, graphsage, vrgcn, fastgcn, ladies (default all)"},
  {"batches", "N", "positive integer", standard = 7, quick = 3,
    help = "measured at every shape"},
  {"scale", "X", "positive number", standard = 1, quick = 0.25,
    help = "times the number of nodes"},
  {"seed", "N", "integer", default = 1, help = "of everything random"},
  {"quick", help = "3 batches, a quarter of the nodes: seconds"},
  {"out", "DIR", "string", help = "where results are kept (default runs/costs-N)"},
  QUIET,
}

declared.variance = {
  reads_data = true,
  about = [[Measures variance and bias of the two-layer embeddings that samplers estimate, over
    sample numbers, against the bounds of the paper's Table 2 from the same graph.]],
  {"datasets", "LIST", "array of strings",
    help = "names or paths; power-law is generated (default cora,citeseer,pubmed,wordnet,power-law "
      .. "as far as they need not be fetched)"},
  {"methods", "LIST", "array of strings",
    help = "of graphsage, vrgcn, fastgcn, ladies, ... (default all), and files of own ones "
      .. "(FILE.lua)"},
  {"samples", "LIST", "array of positive integers", standard = {5, 16, 64, 256, 512},
    quick = {16, 64}, help = "nodes of a layer, or neighbours of a node"},
  {"batches", "N", "positive integer", standard = 12, quick = 4,
    help = "of random nodes, 2 at least"},
  {"draws", "N", "positive integer", standard = 16, quick = 6,
    help = "of the sampler for each batch; more where errors are rare, fewer where they vary "
      .. "little"},
  {"batch-size", "N", "positive integer", default = 512, help = "nodes of a batch"},
  {"hidden", "N", "positive integer", standard = 128, quick = 64, help = "hidden width"},
  {"steps", "N", "non-negative integer", default = 20, help = "of training; 0: first weights"},
  {"lag", "N", "non-negative integer",
    help = "steps that VR-GCN's history is old (default 10, or all there are)"},
  {"normalize", "P", "sym|row", default = "sym",
    help = "P: D^-1/2 (A+I) D^-1/2 or D^-1 (A+I)"},
  {"seed", "N", "integer", default = 1, help = "of everything random"},
  {"quick", help = "two graphs, fewer batches, draws and samples: seconds"},
  {"out", "DIR", "string", help = "where results are kept (default runs/variance-N)"},
  QUIET,
}

declared.report = {
  about = "Writes one document of what the commands of the reproduction have measured.",
  {"runs", "DIR", "string", default = "runs", help = "the folder with the folders of the studies"},
  {"out", "FILE", "string", default = "doc/reproduction.md",
    help = "the document; its pictures go into a folder of its name beside it"},
}

declared.reproduce = {
  folder = true,
  about = [[Runs all experiments of the reproduction that are not finished yet, and writes the
    document of them.]],
  with(RUNS, {help = "of each training but the sweeps' (default 10, and of the figures 3)"}),
  {"quick", help = "2 runs of each, 1 of the sweeps', and the quick forms of table 3, variance "
    .. "and costs"},
  {"datasets", "LIST", "array of strings",
    help = "data sets, instead of those of the experiments"},
  {"folder", "DIR", "string",
    help = "where the folders of the studies are (default runs/reproduce)"},
  {"out", "FILE", "string", default = "doc/reproduction.md", help = "the document"},
}

declared.followers = {
  folder = true,
  about = [[Compares every method at equal nodes and at equal seconds, and every architecture; tries
    the claim of random node sampling and the published tables of BLISS, GCNII and graph
    autoencoders again; measures how many fewer nodes LABOR draws, and links and classes by the
    relations of WordNet.]],
  {"tables", "LIST",
    "array of methods|models|rns|bliss|gcnii|labor|links|relations",
    default = {"methods", "models", "rns", "bliss", "gcnii", "labor", "links", "relations"},
    help = "which of them"},
  with(RUNS, {help = "of each training (default 5, of rns, bliss and links 10, of relations 3)"}),
  {"datasets", "LIST", "array of strings",
    help = "of methods, models, rns, bliss, links and relations, instead of their own"},
  {"equal", "LIST", "array of strings",
    help = "of methods: nodes, seconds or both (default both)"},
  {"kept", help = "train nothing: the tables are of the runs that there are"},
  {"quick", help = "few runs on few data sets: minutes"},
  {"folder", "DIR", "string",
    help = "where the folders of the tables are (default runs/followers)"},
  {"out", "FILE", "string", help = "the document (default doc/followers.md)"},
}

declared["bench accumulate"] = {
  folder = "runs/accumulate-1",
  about = "Measures what F1 a step of several mini-batches costs, by three learning rates.",
  {"accumulate", "LIST", "array of positive integers", default = {1, 4, 16},
    help = "mini-batches of a step"},
  {"batches", "N", "positive integer", default = 640, help = "of a run"},
  with(RUNS, {default = 3, help = "of each, with following seeds"}),
}

declared["bench parts"] = {
  folder = "runs/parts-1",
  about = "Measures seeds from parts of the graph: rows of other ranks, and F1.",
  {"datasets", "LIST", "array of strings", default = {"wordnet", "communities"},
    help = "data sets; communities is made"},
  {"ranks", "LIST", "array of positive integers", default = {2, 4},
    help = "of which rows are counted"},
  {"count-layers", "N", "positive integer", default = 5,
    help = "of the mini-batches whose rows are counted"},
  {"batches", "N", "positive integer", default = 1600, help = "of a run"},
  with(RUNS, {default = 10, help = "of each, with following seeds"}),
}

declared["lab search"] = {
  usage = "ladies lab search [--quick] [options]",
  about = [[Looks through the space of layer-wise samplers, pooled draws among them, for points
    whose gradient has less error x time than LADIES, GraphSAGE, LABOR and pooled draws at as many
    distinct nodes: by successive halving, with draws of its own for every rung and intervals that
    hold for all that are compared. The best are measured at equal seconds too, and trained. The
    same command goes on where it was stopped; its folder has every point as a file that all
    commands take.]],
  {"quick", help = "a sixth of the space on two graphs, Cora and PubMed where LADIES_DATA is set, "
    .. "else made ones, in a quarter of an hour"},
  {"datasets", "LIST", "array of strings", help = "graphs: data sets, and power-law and "
    .. "communities, which are made (default: all eight)"},
  {"points", "LIST", "array of strings", help = "these points alone, by their names, with the "
    .. "draws of the last rung at once: with another --seed and other graphs, what confirms a "
    .. "search"},
  {"seeds", "N", "integer in [2, inf]", standard = 20, quick = 5, help = "of the trainings"},
  {"seconds", "S", "positive number", standard = 20, quick = 2, help = "of each training"},
  {"trained", "N", "non-negative integer", standard = 10, quick = 3,
    help = "points that are trained besides those that others are set beside"},
  {"seed", "N", "integer", default = 1, help = "of everything random"},
  {"out", "DIR", "string", help = "where results are kept (default runs/search-1)"},
  QUIET,
}

--- declared.types(name) -> table: returns the options of an experiment as ladies.options checks
-- them.
function declared.types(name) return command_types(declared[name]) end

return declared
