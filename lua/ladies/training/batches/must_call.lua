--- Checks that a training loop calls those functions of a mini-batch that it must call (penalty,
-- after_step), so that forgetting one is an error.

local must_call = {}

local NAMES = {"penalty", "after_step"}

local REMEDIES = {
  penalty = "what the loop minimizes must hold it: if batch.penalty then loss = loss + "
    .. "batch:penalty(model, loss) end",
  after_step = "between the optimizer's step and the end of ladies.step() there must be: if "
    .. "batch.after_step then batch:after_step(model) end",
}

--- Returns the name of a function of the mini-batch that must be called, or nil.
function must_call.of(batch)
  for _, name in ipairs(NAMES) do
    if batch[name] then return name end
  end
end

--- Watches the loop's calls from now on. Returns a function that returns a text about what was not
-- called and how to call it, or nil. The loop may also remove these fields.
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
