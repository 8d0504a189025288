--- What a loop that trains must call of a mini-batch that has it: whether it did is noted, so that
-- nothing is left out without a word.

local must_call = {}

local NAMES = {"penalty", "after_step"}

local REMEDIES = {
  penalty = "what the loop minimizes must hold it: if batch.penalty then loss = loss + "
    .. "batch:penalty(model, loss) end",
  after_step = "between the optimizer's step and the end of ladies.step() there must be: if "
    .. "batch.after_step then batch:after_step(model) end",
}

--- The name of what must be called of the mini-batch, or nil.
function must_call.of(batch)
  for _, name in ipairs(NAMES) do
    if batch[name] then return name end
  end
end

--- Has the loop's calls noted from now on: a function that returns what was not called and how to
-- do it, as a text, or nil. The loop may also take these fields away.
function must_call.watch(batch)
  local awaited = {}
  for _, name in ipairs(NAMES) do
    local f = batch[name]
    if f then
      awaited[name] = true
      batch[name] = function(...)
        awaited[name], batch[name] = nil, f
        return f(...)
      end
    end
  end
  return function()
    for _, name in ipairs(NAMES) do
      if awaited[name] and batch[name] then
        return ("its %s was not called; %s"):format(name, REMEDIES[name])
      end
    end
  end
end

return must_call
