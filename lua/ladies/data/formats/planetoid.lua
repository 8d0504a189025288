--- Reads citation graphs in the format in which Planetoid published them (Yang, Cohen and
-- Salakhutdinov, 2016): eight files ind.NAME.PART, most of them pickles.
--
--   x, y          features and one-hot labels of the labelled nodes for training, the first of
--   allx, ally    those of all nodes that are not for testing; node i is row i
--   tx, ty        those of the nodes for testing, whose ids, line by line, are in
--   test.index
--   graph         a dict: the neighbours of each node
--
-- The split is the published one: the rows of x, the next 500 of allx (or all, if they are fewer),
-- and test.index. The ids of the nodes for testing are in no order and, in Citeseer, have gaps: 15
-- nodes of the graph are in none of the matrices. They get no features and no label, and nothing is
-- trained or tested on them.

local core = require "ladies_core"
local checks = require "ladies.data.checks"
local direction = require "ladies.data.direction"
local errors = require "ladies.base.errors"
local options = require "ladies.base.options"

local planetoid = {}

-- The most nodes after those of x that are used for validation.
local VALIDATION = 500

--- Tells whether the files of this data set are in `folder`.
function planetoid.found(folder, name)
  return core.exists(("%s/ind.%s.graph"):format(folder, name)) == "file"
end

--- Tells whether the path is FOLDER/ind.NAME, with which the names of such files begin.
function planetoid.fits(path)
  local folder, name = path:match "^(.*)/ind%.([^/]*)$"
  return folder ~= nil and planetoid.found(folder, name)
end

--- Returns the names of the data sets whose files are in `folder`.
function planetoid.names(folder)
  local names = {}
  for _, file in ipairs(core.files(folder)) do
    names[#names + 1] = file:match "^ind%.(.*)%.graph$"
  end
  return names
end

-- Reads a part of the data set, which must be of this class: "table", "Matrix" or "PickledArray".
local function read(context, part, class)
  local path = ("%s.%s"):format(context.where, part)
  local value = core.pickle.load(path)
  local got = options.class_of(value) or type(value)
  if got ~= class then
    errors.fail(("pickle: %s: must hold a %s, got a %s"):format(path, class, got))
  end
  return value
end

-- Reads a file of features and the file of labels that goes with it, with as many rows.
local function read_pair(context, x_part, y_part)
  local x, y = read(context, x_part, "Matrix"), read(context, y_part, "PickledArray"):tensor()
  if y.ndim ~= 2 then
    checks.fail(context, "%s must be a matrix, got a vector of %d", y_part, #y)
  elseif y.n_rows ~= x.n_rows then
    checks.fail(context, "%s has %d rows, must have %d as %s has", y_part, y.n_rows, x.n_rows,
      x_part)
  end
  return x, y
end

-- Reads the ids in test.index, in its order; each must come after the n_before nodes of allx and be
-- one of the n nodes of the graph.
local function read_test(context, n_before, n)
  local ids = {}
  for line in core.file.read(context.where .. ".test.index"):gmatch "[^\r\n]+" do
    local id = math.tointeger(tonumber(line:match "^%s*(%d+)%s*$"))
    if not id or id < n_before or id >= n then
      checks.fail(context, 'test.index: line %d is "%s", must be an id of %d..%d', #ids + 1,
        line:sub(1, 40), n_before, n - 1)
    end
    ids[#ids + 1] = id + 1
  end
  if #ids == 0 then checks.fail(context, "test.index has no ids") end
  return core.index(ids)
end

-- Returns the classes of one-hot rows, with 0 for a row of zeros.
local function classes_of(one_hot)
  local some = one_hot:max(2):above(0)
  return (one_hot:argmax():to_tensor() * some):to_index():to_table()
end

-- Reads the graph's dict; returns it and the number of its nodes, each of which is a key.
local function read_graph(context)
  local graph, n = read(context, "graph", "table"), 0
  for _ in pairs(graph) do n = n + 1 end
  return graph, n
end

-- Converts the lists of neighbours to two Indexes: the nodes that have them (sources) and the nodes
-- that are in them (targets). A list that several nodes share is refused, since by such lists a
-- small file could describe a huge graph.
local function edges_of(context, graph, n)
  local sources, targets, count, seen = {}, {}, 0, {}
  local type_of = math.type
  for id, neighbours in pairs(graph) do
    if type_of(id) ~= "integer" or id < 0 or id >= n or type(neighbours) ~= "table"
      or seen[neighbours] then
      checks.fail(context, "graph: %s must be an id of 0..%d with a list of neighbours of its own",
        tostring(id), n - 1)
    end
    seen[neighbours] = true
    local own = id + 1
    for _, neighbour in ipairs(neighbours) do
      if type_of(neighbour) ~= "integer" or neighbour < 0 or neighbour >= n then
        checks.fail(context, "graph: node %d has the neighbour %s, must be in 0..%d", id,
          tostring(neighbour), n - 1)
      end
      count = count + 1
      sources[count], targets[count] = own, neighbour + 1
    end
  end
  return core.index(sources), core.index(targets)
end

-- Returns the adjacency, how many edges were given more than once, and a sentence about neighbours,
-- of which an edge is two: each of its ends lists the other.
local function adjacency_of(context, graph, n)
  local sources, targets = edges_of(context, graph, n)
  local listed, twice = direction.matrix(n, sources, targets)
  local simple, loops = listed:without_loops(), sources:equals(targets):sum():item()
  local merged = math.tointeger((#sources - loops - simple.nnz + 1) // 2)
  return simple, merged, ("%d neighbours listed, duplicates merged: %d, self-loops dropped: %d")
    :format(#sources, twice, listed.nnz - simple.nnz)
end

-- Makes a matrix of n rows that has the rows of `first` at the top and those of `second` as the
-- rows `at`.
local function stack(n, first, second, at)
  local sorted = at:sort()
  second = second:rows(core.sampling.find(at, sorted))
  local rows, k = sorted:to_table(), 1
  local offsets, ends = first:offsets():to_table(), second:offsets():to_table()
  for row = first.n_rows + 1, n do
    while rows[k] == row do k = k + 1 end      -- one that is there twice is refused later
    offsets[row + 1] = first.nnz + ends[k]
  end
  local values = core.zeros(first.nnz + second.nnz)
  if first.nnz > 0 then values:slice(1, first.nnz):copy_(first:entry_values()) end
  if second.nnz > 0 then
    values:slice(first.nnz + 1, #values):copy_(second:entry_values())
  end
  return core.csr{n_rows = n, n_cols = first.n_cols, offsets = core.index(offsets),
    columns = first:col_of() .. second:col_of(), values = values}
end

--- Reads the fields of the data set whose files are called `path`.*, and the context of messages,
-- as ladies.data.complete takes them.
function planetoid.read(path)
  local name = path:match "ind%.([^/]*)$"
  local keys = {adjacency = "graph", features = "allx and tx", labels = "ally and ty",
    train = "x", val = "allx", test = "test.index"}
  local context = {where = path, shift = -1, keys = keys}
  local x = read_pair(context, "x", "y")
  local allx, ally = read_pair(context, "allx", "ally")
  local tx, ty = read_pair(context, "tx", "ty")
  local graph, n = read_graph(context)
  local test = read_test(context, allx.n_rows, n)
  checks.length(context, "test", #test, tx.n_rows, "one for each row of tx")
  if tx.n_cols ~= allx.n_cols or ty.n_cols ~= ally.n_cols then
    checks.fail(context, "tx and ty must have as many columns as allx and ally")
  elseif x.n_rows > allx.n_rows then
    checks.fail(context, "allx has %d rows, must have the %d of x and more", allx.n_rows, x.n_rows)
  end
  local n_val = math.min(VALIDATION, allx.n_rows - x.n_rows)
  local labels = classes_of(ally)
  for id = #labels + 1, n do labels[id] = 0 end
  for i, class in ipairs(classes_of(ty)) do labels[test[i]] = class end
  local adjacency, merged, found = adjacency_of(context, graph, n)
  local absent = n - allx.n_rows - #test
  return {
    path = path, name = name, adjacency = adjacency, merged = merged,
    tells_merged = true,
    features = stack(n, allx, tx, test),
    labels = core.index(labels), train = core.range(1, x.n_rows),
    val = n_val > 0 and core.range(x.n_rows + 1, x.n_rows + n_val) or nil, test = test:sort(),
    source = ("Planetoid, ind.%s.*: %s%s"):format(name, found, absent > 0
      and (", nodes without features and label: %d"):format(absent) or ""),
  }, context
end

return planetoid
