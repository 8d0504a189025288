--- The metrics of tasks with a class, or several, for each unit, as ladies.task.new takes them.

local metrics = require "ladies.evaluation.metrics"

return {
  {name = "micro-F1", of = metrics.micro_f1, percent = true},
  {name = "macro-F1", of = metrics.macro_f1, percent = true},
}
