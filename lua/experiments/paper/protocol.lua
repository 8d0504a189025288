--- The protocol of the paper's experiments (Zou et al., NeurIPS 2019, section 5): the settings that
-- it fixes, whatever preset they are combined with.

local tables = require "ladies.base.tables"

local protocol = {}

local FIXED = {model = "gcn", layers = 5, hidden = 256, batch_size = 512, lr = 1e-3,
  min_gain = 0.01}
local PATIENCE = 200

--- The name of the graph that stands in for Reddit where that is not here.
protocol.REDDIT_SCALE = "reddit-scale"

--- The numbers of Reddit: nodes, stored entries and classes.
protocol.REDDIT = {nodes = 232965, entries = 114615892, classes = 41}

-- Nobody asks for the F1 on a random graph: so many batches, or seconds, show time and memory, and
-- there is no validation before their end.
local SHORT = {max_batches = 100, max_seconds = 30, eval_every = 1000}

--- Returns the protocol's settings of ladies.experiment for the data set of this name, in a new
-- table. For Reddit and for the graph in its place patience is the preset's, which fits how seldom
-- one validates there.
function protocol.settings(dataset)
  return tables.merged(FIXED, {patience = not dataset:find "^reddit" and PATIENCE or nil},
    dataset == protocol.REDDIT_SCALE and SHORT or nil)
end

return protocol
