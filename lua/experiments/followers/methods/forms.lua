--- Lists the forms of methods that this package compares: every method that is for nodes and a
-- graph, with its default options, and some methods with options that make another method of it.

local methods = require "ladies.experiment.methods"
local tables = require "ladies.base.tables"

local forms = {}

-- Maps the name of a form to its method, the options of the method, and what tables call these.
local OWN = {
  ladies_wr = {"ladies", {draw = "wr"}, "with replacement"},
  ladies_debias = {"ladies", {debias = true}, "debiased"},
  ladies_flat = {"ladies", {flat = true}, "flat"},
  ladies_sketch = {"ladies", {sketch = true}, "sketch"},
  labor_1 = {"labor", {iterations = 1}, "1 iteration"},
  labor_converge = {"labor", {iterations = "converge"}, "to convergence"},
  graphsaint_node = {"graphsaint", {by = "node"}, "nodes"},
  graphsaint_edge = {"graphsaint", {by = "edge"}, "edges"},
  graphsaint_mrw = {"graphsaint", {by = "mrw"}, "many walkers"},
}

--- All forms; at equal nodes the others get the number of nodes of the first one.
forms.ALL = {"ladies:512", "ladies_wr", "ladies_debias", "ladies_flat", "ladies_sketch", "pladies",
  "full", "fastgcn", "graphsage", "labor", "labor_1", "labor_converge", "pooled", "pps", "vrgcn",
  "clustergcn", "rns", "graphsaint", "graphsaint_node", "graphsaint_edge", "graphsaint_mrw",
  "shadow", "mvs", "bandit", "bliss", "asgcn", "pass", "grapes"}

--- Parses "ladies_flat:64", a form or a method with its own samples behind a colon where they are
-- given. Returns its settings, {method =, samples =, ...}, and what follows the method's name in
-- tables: ", flat", or nothing. Errors begin with `where`.
function forms.parse(where, text)
  local name, samples = text:match "^([%w_]+)(:?%w*)$"
  local method, options, words = table.unpack(OWN[name] or {})
  if not method then return methods.parse(where, text), "" end
  return tables.merged(options, methods.parse(where, method .. samples)), ", " .. words
end

--- Returns the name of a form in tables, with samples in brackets: "LADIES, flat (512)".
function forms.title(config, words)
  return (methods.title(config):gsub("^[^(]*[^( ]", "%0" .. words))
end

return forms
