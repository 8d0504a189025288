--- Checks promises of the library that the fuzzers hold every call to, whatever it is given.

local promises = {}

-- Beginnings of errors that Lua raises itself: they say that a function did not check its
-- arguments.
local INTERNAL = {"attempt to ", "bad argument", "stack overflow", "not enough memory",
  "out of memory", "table overflow", "number has no integer", "'for' "}

--- The message of a refusal is one clear line.
function promises.check_message(name, message)
  local function fail(what) error(("%s: %s: %s"):format(name, what, tostring(message))) end
  if type(message) ~= "string" then fail "an error that is no text" end
  local text = message:gsub("^[^:]*:%d+: ", "")
  for _, beginning in ipairs(INTERNAL) do
    if text:sub(1, #beginning) == beginning then fail "an internal error" end
  end
  if message:find "%c" then fail "not one line" end
  if #message > 1000 then fail "a long message" end
end

--- Fails unless a data set is consistent, as every one must be, whatever it was read from.
function promises.check_dataset(set)
  local nodes, labels, targets = set.graph.n_nodes, set.labels, set.targets
  local units = set.unit == "graph" and set.n_graphs or nodes
  assert(nodes > 0 and set.features.n_rows == nodes, "features of other nodes")
  if set.multilabel then
    assert(labels.n_rows == units and labels.n_cols == set.classes, "labels of another shape")
  elseif labels then
    assert(#labels == units, "labels of other nodes")
    assert(labels:min() >= 0 and labels:max() <= set.classes, "labels out of range")
  end
  assert(not targets or targets.n_rows == units, "targets of other nodes")
  for _, part in ipairs{"train", "val", "test"} do
    local ids = set[part]
    assert(not ids or #ids == 0 or ids:min() >= 1 and ids:max() <= units, "a split out of range")
  end
  assert(type(set:describe()) == "string" and type(set:facts()) == "table")
end

return promises
