--- Splits the nodes of a data set for training, validation and test, where its source has no split
-- or another one is wanted.
--
-- A way to split is a text:
--
--   10/10/80               per cent of the labelled nodes for training, validation and test, drawn
--                          at random; nodes are left over where the sum is below 100
--   stratified:10/10/80    the same shares of every class (of one class a node)
--   20-per-class           20 nodes of each class for training, 500 and 1000 others for validation
--                          and test, as Planetoid's splits are; 20-per-class:500/1000 says the
--                          numbers
--   TRAIN,VAL,TEST         files, each with a node a line: ids from 0, or names where nodes have
--                          names; a third one, or a second, may be missing
--
-- No node without a label (where a data set has no labels, without a known target) is in any part.
-- All of this is a function of the labels or targets, the way and a seed alone.

local core = require "ladies_core"
local checks = require "ladies.data.checks"
local errors = require "ladies.base.errors"
local grouped = require("ladies.base.units").grouped
local label_kinds = require "ladies.data.labels"
local notes = require "ladies.data.notes"
local options = require "ladies.base.options"
local paths = require "ladies.base.paths"
local tables = require "ladies.base.tables"

local splits = {}

local WHERE = "ladies.data.split"

--- Lists the ways to split, for messages.
splits.WAYS = "10/10/80, stratified:10/10/80, 20-per-class and TRAIN,VAL,TEST"

local function fail(text, ...) errors.fail(("%s: %s"):format(WHERE, text:format(...))) end

--- ladies.data.random_split(n: integer | Dataset, {train =, val =, seed = 1}) -> train, val, test:
-- a random split of the nodes 1 .. n: three ascending Indexes with the shares `train` and `val` of
-- the nodes, and the others. A function of n, the shares and the seed alone. A data set in place of
-- n has its labelled nodes split, or those with a known target where it has no labels.
function splits.random_split(n, opts)
  local nodes
  if options.class_of(n) == "Dataset" then
    nodes = label_kinds.known(n)
    n = #nodes
  end
  options.value("ladies.data.random_split", "n", n, "positive integer")
  opts = options.check("ladies.data.random_split", opts, {
    train = {"number in [0, 1]", 0.1}, val = {"number in [0, 1]", 0.1},
    seed = {"non-negative integer", 1},
  })
  if opts.train + opts.val > 1 then
    errors.fail("ladies.data.random_split: train + val must be at most 1")
  end
  local order = core.sampling.permutation(n, core.rng(opts.seed))
  if nodes then order = nodes[order] end
  local a = math.floor(n * opts.train + 0.5)
  local b = math.min(n, a + math.floor(n * opts.val + 0.5))
  return order:slice(1, a):sort(), order:slice(a + 1, b):sort(), order:slice(b + 1, n):sort()
end

--- ladies.data.class_split(data: Dataset | Index [, {per_class = 20, val = 500, test = 1000,
-- seed = 1}]) -> train, val, test: a random split in the manner of Planetoid's: three ascending
-- Indexes, of `per_class` nodes of each class (all of a smaller one), and of `val` and `test`
-- others. Where fewer are left these are divided in proportion. Nodes without a label are in none.
-- `data` is a data set or the Index of its labels; the split is a function of these, the numbers
-- and the seed alone.
--
--   data.train, data.val, data.test =
--     ladies.data.class_split(data, {per_class = 20, val = 500, test = 1000, seed = 1})
function splits.class_split(given, opts)
  local where = "ladies.data.class_split"
  local labels = given
  if options.class_of(given) == "Dataset" then labels = given.labels end
  options.value(where, "the labels", labels, "Index")
  opts = options.check(where, opts, {
    per_class = {"positive integer", 20}, val = {"non-negative integer", 500},
    test = {"non-negative integer", 1000}, seed = {"non-negative integer", 1},
  })
  local train, rest, taken = {}, {}, {}
  for _, node in ipairs(core.sampling.permutation(#labels, core.rng(opts.seed)):to_table()) do
    local class = labels[node]
    if class > 0 and (taken[class] or 0) < opts.per_class then
      taken[class] = (taken[class] or 0) + 1
      train[#train + 1] = node
    elseif class > 0 then
      rest[#rest + 1] = node
    end
  end
  local n_val, n_test = opts.val, opts.test
  if #rest < n_val + n_test then
    n_val = #rest * n_val // (n_val + n_test)
    n_test = #rest - n_val
  end
  local others = core.index(rest)
  return core.index(train):sort(), others:slice(1, n_val):sort(),
    others:slice(n_val + 1, n_val + n_test):sort()
end

--- Makes the parts of a split from a list that has for each node the number of its part: 1, 2, 3
-- for train, val, test, or another value for none. Returns {train =, val =, test =}, ascending
-- Indexes, or nil for a part without nodes.
function splits.by_node(part_of)
  local ids, parts = {}, {}
  for i = 1, #checks.SPLIT do ids[i] = {} end
  for node, part in ipairs(part_of) do
    if ids[part] then table.insert(ids[part], node) end
  end
  for i, part in ipairs(checks.SPLIT) do parts[part] = ids[i][1] and core.index(ids[i]) end
  return parts
end

-- ---------------------------------------------------------------- shares

-- Distributes the nodes of one class, one after the other, each to the part that is furthest below
-- its share, which rounds shares by largest remainder. What a part has too little or too much is
-- carried on to the next class in `owed`, so that the totals are right. The first node of a class
-- is for training.
local function deal(nodes, shares, owed, parts)
  for part, share in ipairs(shares) do owed[part] = owed[part] + share * #nodes / 100 end
  for i, node in ipairs(nodes) do
    local most = 1
    for part = 2, i == 1 and 1 or #owed do
      if owed[part] > owed[most] then most = part end
    end
    owed[most] = owed[most] - 1
    table.insert(parts[most], node)
  end
end

-- Gives a node to each part that has a share but is empty, however few nodes there are: one that is
-- left over, or else one of the largest part.
local function fill_empty(shares, parts, n)
  local wanted = 0
  for part = 1, 3 do wanted = wanted + (shares[part] > 0 and 1 or 0) end
  if n < wanted then fail("%d labelled nodes are too few for %d parts", n, wanted) end
  for part = 1, 3 do
    if shares[part] > 0 and #parts[part] == 0 then
      local from = parts[1]
      for other = 2, 3 do if #parts[other] > #from then from = parts[other] end end
      if #parts[4] > 0 then from = parts[4] end
      table.insert(parts[part], table.remove(from))
    end
  end
end

-- Returns the labelled nodes in random order, for `stratified` in a group for each class.
local function groups_of(data, stratified, seed)
  local labelled = label_kinds.known(data)
  local order = labelled[core.sampling.permutation(#labelled, core.rng(seed))]:to_table()
  if not stratified then return {order}, #order end
  local classes = {}
  for class = 1, data.classes do classes[class] = {} end
  for _, node in ipairs(order) do table.insert(classes[data.labels[node]], node) end
  return classes, #order
end

local function by_shares(data, way, seed)
  local groups, n = groups_of(data, way.stratified, seed)
  local shares, parts, owed = way.numbers, {{}, {}, {}, {}}, {0, 0, 0, 0}
  shares[4] = 100 - shares[1] - shares[2] - shares[3]      -- left over
  for _, nodes in ipairs(groups) do deal(nodes, shares, owed, parts) end
  fill_empty(shares, parts, n)
  for part = 1, 3 do parts[part] = core.index(parts[part]):sort() end
  return table.unpack(parts, 1, 3)
end

local function by_class(data, way, seed)
  local val, test = way.numbers[1] or 500, way.numbers[2] or 1000
  local parts = {splits.class_split(data,
    {per_class = way.per_class, val = val, test = test, seed = seed})}
  if val + test > 0 and #parts[2] + #parts[3] == 0 then
    fail("%s takes all %d labelled nodes for training and leaves none for the other parts",
      way.text, #parts[1])
  end
  return table.unpack(parts)
end

-- ---------------------------------------------------------------- files

local function read_nodes(data, path)
  local names = data.node_names and not data.n_graphs and core.text.names() or nil
  local nodes = core.text.read(path, {columns = {names or "id"},
    n_ids = not names and (data.n_graphs or data.graph.n_nodes) or nil})
  if not names then return nodes end
  local node_of, numbers = {}, {}
  for node = 1, #data.node_names do node_of[data.node_names[node]] = node end
  for i = 1, #names do
    numbers[i] = node_of[names[i]]
      or fail('%s: %s has no node called "%s"', path, data.name, names[i])
  end
  return core.index(numbers)[nodes]
end

local function from_files(data, way)
  local parts, keys = {}, {}
  for i, path in ipairs(way.files) do
    local part = checks.SPLIT[i]
    local ok, nodes = errors.caught(read_nodes, data, path)
    if not ok then errors.pass_on(nodes, ("%s (--split): %s"):format(WHERE, part)) end
    parts[part], keys[part] = nodes, path
  end
  checks.split({where = WHERE, shift = -1, keys = keys}, parts, data.n_graphs or data.graph.n_nodes,
    function(ids)
    return label_kinds.first_unknown(data, ids)
  end, data.labels and "label" or "target that is known")
  return parts.train, parts.val, parts.test
end

-- ---------------------------------------------------------------- ways

-- Parses a text such as "10/10/80" to {10, 10, 80}; returns nil for another text.
local function numbers_of(text)
  local list = {}
  for word in (text .. "/"):gmatch "([^/]*)/" do
    local number = word:find "^%d+%.?%d*$" and tonumber(word)
    if not number then return nil end
    list[#list + 1] = number
  end
  return list
end

local function shares_way(text)
  local rest = text:match "^stratified:(.*)$"
  local numbers = numbers_of(rest or text)
  if not numbers or (not rest and #numbers < 2) then return nil end
  local sum = (numbers[1] or 0) + (numbers[2] or 0) + (numbers[3] or 0)
  if #numbers ~= 3 or numbers[1] == 0 or sum > 100 + 1e-9 then
    fail('"%s": three shares in per cent, the first above 0 and together at most 100, such as '
      .. "10/10/80", text)
  end
  return {text = text, make = by_shares, numbers = numbers, stratified = rest ~= nil}
end

local function class_way(text)
  local count, rest = text:match "^(%d+)%-per%-class(.*)$"
  if not count then return nil end
  local numbers = rest == "" and {} or numbers_of(rest:match "^:(.*)$" or "")
  local whole = numbers and math.tointeger(numbers[1] or 0) and math.tointeger(numbers[2] or 0)
  local per_class = math.tointeger(count)
  if not per_class or per_class == 0 or not whole or (rest ~= "" and #numbers ~= 2) then
    fail('"%s": nodes of each class, and of validation and test, such as 20-per-class:500/1000',
      text)
  end
  return {text = text, make = by_class, numbers = numbers, per_class = per_class}
end

local function files_way(text)
  local files = {}
  for path in (text .. ","):gmatch "([^,]*)," do files[#files + 1] = path end
  if #files < 2 then return nil end
  if #files > 3 then fail('"%s": at most three files: TRAIN,VAL,TEST', text) end
  return {text = text, make = from_files, files = files}
end

local function parse(text)
  return shares_way(text) or class_way(text) or files_way(text)
end

--- Tells whether a text is a way to split, and not the name of a split of the source; fails when it
-- is a malformed way. Returns false for nil.
function splits.is_way(text)
  return text ~= nil and parse(text) ~= nil
end

--- Returns a way to split with the paths of its files made absolute; other texts are returned as
-- they are.
function splits.from_root(text)
  local way = text and parse(text)
  if not way or not way.files then return text end
  return table.concat(tables.map(way.files, function(path)
    return path == "" and path or paths.from_root(path)
  end), ",")
end

--- Returns the way to split that is used by default for a data set without a split.
function splits.default(data)
  local shares = data.graph_of and "80/10/10" or "10/10/80"
  return (data.multilabel or not data.labels) and shares or "stratified:" .. shares
end

--- ladies.data.split(data, how: string [, {seed = 1}]) -> train, val, test: ascending Indexes of
-- the nodes of a data set, split in the way `how`:
--
--   "10/10/80"              per cent of the labelled nodes, at random; their numbers are these
--                           shares rounded to whole nodes by largest remainder, with the exact sum
--   "stratified:10/10/80"   these shares of every class, rounded alike, and at least one node of
--                           each class for training
--   "20-per-class"          or "20-per-class:500/1000": as ladies.data.class_split
--   "TRAIN,VAL,TEST"        files with a node a line, ids from 0 or, where nodes have them, names
--
-- The default is "stratified:10/10/80", or "10/10/80" where nodes have several classes, or targets
-- and no labels; nodes with a known target are then what labelled ones are above. Of many graphs
-- the shares are 80/10/10, since a graph learns nothing of those that have no part in training. A
-- part with a share has at least one node. data:split(how, opts) sets them in the data set.
function splits.of(data, how, opts)
  options.value(WHERE, "the data set", data, "Dataset")
  how = options.value(WHERE, "how", how, "string or nil") or splits.default(data)
  opts = options.check(WHERE, opts, {seed = {"non-negative integer", 1}})
  local way = parse(how)
  if not way then
    fail('"%s" is no way to split; there are %s', how, splits.WAYS)
  elseif (data.multilabel or not data.labels) and (way.stratified or way.per_class) then
    fail("%s is for one class a node; where nodes have %s, give shares such as 10/10/80", how,
      data.labels and "several" or "targets")
  end
  return way.make(data, way, opts.seed)
end

local function sizes(data)
  local words = {}
  for _, part in ipairs(checks.SPLIT) do
    words[#words + 1] = ("%s %s"):format(grouped(data[part] and #data[part] or 0), part)
  end
  return table.concat(words, ", ")
end

-- Returns the classes without a node for training.
local function untrained(data)
  if data.multilabel or not data.labels then return 0 end
  local n, of_all = 0, data.labels:counts(data.classes)
  for class, count in ipairs(data.labels[data.train]:counts(data.classes)) do
    if count == 0 and of_all[class] > 0 then n = n + 1 end
  end
  return n
end

--- Splits a data set in the way `how` (nil: the default) by `seed` (nil: 1), and adds a note about
-- it; returns the way and the seed.
function splits.apply(context, data, how, seed)
  local own = data.train and (" in place of its own (%s)"):format(sizes(data)) or ""
  local why = how and "" or ", as it has none; --split (in Lua data:split) chooses another"
  how, seed = how or splits.default(data), seed or 1
  data:split(how, {seed = seed})
  local by_seed = parse(how).files and "" or (" with seed %d"):format(seed)
  notes.add(context, data.notes, "split %s%s: %s%s%s", how, by_seed, sizes(data), own, why)
  local n = untrained(data)
  if n > 0 then
    notes.add(context, data.notes, "%d of %d classes have no node for training", n, data.classes)
  end
  if not data.val and how:find "per%-class" and not how:find ":0/" then
    notes.add(context, data.notes, "there are too few labelled nodes for a validation")
  end
  return how, seed
end

--- Gives a data set that was loaded without a split the default one, by `seed` (nil: 1), and says
-- so; returns the way and the seed, nothing where it has a split, or neither labels nor targets,
-- and so none of nodes. One with nodes for validation or test and none for training is an error,
-- which begins with `where`.
function splits.complete(where, data, seed)
  if data.train or not (data.labels or data.targets) then return nil end
  if data.val or data.test then
    errors.fail(("%s: %s has nodes for validation or test but none for training; --split (in Lua "
      .. "split) splits all of them"):format(where, data.name))
  end
  local how
  how, seed = splits.apply({where = data.name}, data, nil, seed)
  notes.tell(data.notes)
  return how, seed
end

return splits
