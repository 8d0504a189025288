--- Keeps the record of how a data set was prepared: makes plain data of it for a run, checks it,
-- and takes its steps again with a data set that was read anew, or with another one. A data set has
-- this record in its field `preparation`:
--
--   path                   the name or path that ladies.data.load was given; nil for data sets that
--                          a script has made
--   directed, split, ...   the options with which it was read (see ladies.data.complete); the split
--                          is that of data:split where this came later
--   steps                  what was done afterwards, in order: {call =, ...}, where `call` is the
--                          name of a function in CALLS below and the rest what it was given. A file
--                          of ladies.data.save says which steps are in its features already
--
-- The record of a run has it as plain data, without the scale of a step `standardized`, which is in
-- the file of the run's model.

local copies = require "ladies.data.copies"
local errors = require "ladies.base.errors"
local options = require "ladies.base.options"
local standardized = require "ladies.data.standardized"
local tables = require "ladies.base.tables"

local preparation = {}

local CALLS = {
  shuffled = function(data, step)
    return copies.shuffled(data, {what = step.what, seed = step.seed})
  end,
  row_normalized = function(data) return copies.row_normalized(data) end,
  standardized = function(data, step)
    return standardized.by_scale(data, step.scale, "the run's data set")
  end,
}

--- Returns the preparation of a data set as plain data. One whose field `path` a script has cleared
-- has no source.
function preparation.plain(data)
  local plain = tables.merged(data.preparation)
  plain.path = data.path and plain.path
  plain.steps = tables.map(plain.steps or {}, function(step)
    return {call = step.call, what = step.what, seed = step.seed}
  end)
  return plain
end

--- Fails unless `plain`, read from a file, is what preparation.plain gives, as far as its options
-- are not checked when they are used. Errors begin with `where`. Records of earlier versions have
-- no steps.
function preparation.check(where, plain)
  options.value(where, "path", plain.path, "string or nil")
  for _, step in ipairs(options.value(where, "steps", plain.steps, "table or nil") or {}) do
    options.value(where, "a step", step, "table")
    if not CALLS[step.call] then
      errors.fail(("%s: there is no step %s"):format(where, tostring(step.call)))
    end
  end
end

-- Returns steps as words, for messages.
local function words(steps)
  local names = tables.map(steps, function(step) return step.call end)
  return names[1] and table.concat(names, ", then ") or "as they were given"
end

local function is_same_scale(one, other)
  return one == nil or one.mean:hash() == other.mean:hash()
    and one.deviation:hash() == other.deviation:hash()
end

-- Returns those of the steps that are left to do for a data set in whose features some were done
-- when its file was written: these must be the first of all that change features.
local function steps_left(where, data, steps)
  local done, left, n = data.preparation.steps, {}, 0
  for _, step in ipairs(steps) do
    local own = done[n + 1]
    if not own or step.call == "shuffled" then
      left[#left + 1] = step
    elseif own.call == step.call and is_same_scale(own.scale, step.scale) then
      n = n + 1
    else
      break
    end
  end
  if n == #done then return left end
  local own, wanted = words(done), words(steps)
  errors.fail(("%s: the features of %s are %s already, and those of the run's data set %s%s")
    :format(where, data.name, own, wanted,
      own == wanted and " by another mean and deviation" or ""))
end

--- preparation.apply(where, data, steps) -> Dataset: does to a data set those of the steps that its
-- file has not had done already. An error, which begins with `where`, if this had others done.
function preparation.apply(where, data, steps)
  for _, step in ipairs(steps_left(where, data, steps)) do
    data = CALLS[step.call](data, step)
  end
  return data
end

return preparation
