--- Declares every option of ladies.lab once: for the function, which checks them, and for
-- `ladies lab`, which reads them from the command line.

local command_types = require "ladies.base.command_types"

local declared = {}

--- The options of the command, as ladies.command.cli and ladies.base.command_types have them.
declared.options = {
  {"dataset", "NAME|PATH", "string", program = "string or table", default = "cora",
    help = "one without a split gets the default one"},
  {"against", "LIST", "string", program = "array of any", help = "what it is set beside, or none "
    .. "(default: one sampler alone beside ladies and fastgcn)"},
  {"samples", "N", "positive integer", help = "of all samplers that have a number of samples"},
  {"equal", "WHAT", "samples|nodes|entries|seconds", help = "the others have so many samples "
    .. "that their mini-batches have as many distinct nodes or entries, or take as long, as those "
    .. "of the first"},
  {"layers", "N", "positive integer", default = 2, help = "of the network"},
  {"hidden", "N", "positive integer", default = 64, help = "its width"},
  {"steps", "N", "non-negative integer", default = 5, help = "of training that it has"},
  {"batch-size", "N", "positive integer", default = 512,
    help = "seeds of a batch, or edges or graphs"},
  {"draws", "N", "integer in [2, 1000]", default = 6, help = "of each set of seeds"},
  {"precision", "X", "positive number", default = 0.1,
    help = "half the width of the intervals of the errors, as a share of them"},
  {"seconds", "S", "positive number", default = 10,
    help = "for the draws of a sampler beyond the fewest that are needed; exact values, costs and "
      .. "growth take time of their own; with fewer, intervals are wider"},
  {"same-as", "NAME|FILE.lua", "string", program = "any", help = "whether the first sampler is the "
    .. "same as this one in distribution: another way to write it, or a faster one"},
  {"along", "N", "positive integer", help = "sets the loss of mini-batches beside that of all "
    .. "training nodes, and measures how their gradients vary, along N steps of training"},
  {"train-batches", "N", "positive integer", program = false,
    help = "trains each for as many batches too, and reports its F1"},
  {"train-seconds", "S", "positive number", program = false, help = "the same for as long"},
  {"seeds", "K", "integer in [2, inf]", program = false, default = 5, help = "of these trainings"},
  {"seed", "N", "integer", default = 1, help = "of everything random"},
  {"threads", "N", "positive integer", program = false,
    help = "of the parallel loops; results do not depend on it"},
  {"out", "DIR", "string", program = false,
    help = "a folder for the page, its numbers and pictures"},
  {"quiet", help = "no progress"},
}

--- The types of those that the function has too, for options.check.
declared.types = command_types(declared.options)

return declared
