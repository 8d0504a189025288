--- Makes a data set from what a reader has read: a context of messages, as ladies.data.checks
-- describes it with all three parts, and the fields, which are those of a data set
-- (ladies.data.dataset) as far as the source has them, but for these:
--
--   adjacency       in place of the graph: Matrix, whose entry (b, a) is the edge from a to b.
--                   from_rows: true where it is (a, b), as other programs write it
--   edge_list       in place of both where more than weights is known of edges: {n = nodes, sources
--                   =, targets =, ...}, of which ladies.data.edges.list makes the graph
--   node_names      a text with a line for each node
--   merged          may be left out; tells_merged: true where no note is to tell of these edges
--   directed        "keep" where the source says so; symmetrize: a function that is called for the
--                   graph with edges both ways (see ladies.data.direction)
--   notes           the lines so far; may be left out
--   known_finite    true where the features need not be checked
--   feature_steps   how the features were prepared (see ladies.data.formats.npz.prepared)
--   remember        a function that is called with the data set when it has been checked
--
-- Here the options are applied that are the same for every source:
--
--   directed        "symmetrize" or "keep": see ladies.data.direction
--   make_features   for a graph without features: see ladies.data.made_features
--   parallel        "keep" or "merge", edges of one pair of nodes: see ladies.data.edges.list
--   split           a way to split the nodes: see ladies.data.splits; split_seed: its seed (1)
--   max_ids         how many nodes, columns or classes a file may ask for by a number alone; by
--                   default in proportion to what is in it
--   ids, classes    how tables name nodes and classes: see ladies.data.formats.tables.from_files
--   features_in     "memory" or "file": see ladies.data.formats.npz.features
--   labels_as       "classes" or "targets": see ladies.data.formats.npz.labels

local checks = require "ladies.data.checks"
local class_numbers = require "ladies.data.labels.class_numbers"
local Dataset = require "ladies.data.dataset"
local direction = require "ladies.data.direction"
local edge_list = require "ladies.data.edges.list"
local grouped = require("ladies.base.units").grouped
local label_kinds = require "ladies.data.labels"
local made_features = require "ladies.data.made_features"
local notes = require "ladies.data.notes"
local options = require "ladies.base.options"
local splits = require "ladies.data.splits"

local complete = {}

--- The types of these options, for options.check.
complete.SPEC = {
  directed = direction.OPTION, parallel = "keep|merge or nil",
  make_features = made_features.OPTION, split = "string or nil",
  split_seed = "non-negative integer or nil", max_ids = "positive integer or nil",
  features_in = "memory|file or nil", labels_as = "classes|targets or nil",
  ids = "numbers from 0|numbers from 1|strings or nil", classes = "numbers|strings|columns or nil",
}

--- Returns the options above from a table that has others too.
function complete.options_of(opts)
  local own = {}
  for key in pairs(complete.SPEC) do own[key] = opts[key] end
  return own
end

-- The number of columns of sparse features that is always allowed, and the number that each stored
-- value allows.
local ALWAYS, FOR_EACH_VALUE = 1 << 16, 64

--- Returns the most columns that sparse features with so many values may have; max_ids: the user's
-- own limit, or nil. There is a limit because the first layer has weights for every column, even
-- one without values.
function complete.most_columns(n_values, max_ids)
  return max_ids or math.max(ALWAYS, FOR_EACH_VALUE * n_values)
end

local function check_columns(context, features, max_ids)
  if options.class_of(features) ~= "Matrix" then return end
  local limit = complete.most_columns(features.nnz, max_ids)
  if features.n_cols > limit then
    checks.fail(context, "%s has %d columns, more than the %d that %d values may have; --max-ids "
      .. "(in Lua max_ids) allows more", context.keys.features, features.n_cols, limit,
      features.nnz)
  end
end

-- Removes the parts of the split that have no nodes.
local function drop_empty_parts(fields)
  for _, part in ipairs(checks.SPLIT) do
    if fields[part] and #fields[part] == 0 then fields[part] = nil end
  end
end

-- Adds a note where edges were given more than once and share an entry without being asked to,
-- unless a reader sets the field `tells_merged`, because it is known already.
local function tell_merged(context, fields, asked)
  if fields.tells_merged or asked or fields.edges or (fields.merged or 0) == 0 then return end
  local weighted, n = fields.adjacency.values, fields.merged
  notes.add(context, fields.notes, "%s%s", n == 1 and "1 edge repeats another and is one with it"
    or grouped(n) .. " edges repeat others and are one with them",
    weighted and '; --parallel keep (in Lua parallel = "keep") leaves each as it is' or "")
end

--- complete.dataset(where, fields, context, opts): makes the data set from a reader's fields and
-- context, with the options above; `where` begins messages about the options.
function complete.dataset(where, fields, context, opts)
  fields.notes = fields.notes or {}
  if fields.edge_list then
    edge_list.settle(context, fields, opts.directed, opts.parallel)
  elseif opts.parallel == "keep" and not fields.edges then
    checks.fail(context, "parallel: the graph is no list of edges with features, types, times or "
      .. "weights, some of which could be parallel")
  end
  checks.adjacency(context, fields.adjacency)
  tell_merged(context, fields, opts.parallel)
  direction.apply(context, fields, opts.directed)
  local listed = fields.adjacency
  if listed.nnz <= listed.n_rows and listed.nnz == listed:loops() then
    notes.add(context, fields.notes, "there are no edges: every node hears itself alone")
  end
  check_columns(context, fields.features, opts.max_ids)
  if opts.features_in == "file" and options.class_of(fields.features) ~= "Rows" then
    checks.fail(context, "features_in: only those of an .npz or a .safetensors file can stay in it")
  end
  if opts.labels_as == "targets" and not fields.targets then
    checks.fail(context, "labels_as: the labels of this format are classes, and no targets")
  end
  made_features.add(where, fields, opts.make_features, context)
  fields.labels = label_kinds.dense(context, fields.labels)
  class_numbers.apply(context, fields, opts.max_ids)
  drop_empty_parts(fields)
  local data = Dataset.new(fields, context)
  if splits.is_way(opts.split) then
    splits.apply(context, data, opts.split, opts.split_seed)
  elseif opts.split_seed and data.train then
    notes.add(context, data.notes, "--split-seed (in Lua split_seed) is not used: the split is the "
      .. "data set's own")
  end
  notes.tell(data.notes)
  if fields.remember then fields.remember(data) end
  return data
end

return complete
