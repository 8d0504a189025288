--- A GCN of two layers and its gradients the slow and obvious way: plain tables of doubles. The
-- matrices of mini-batches are those of the whole graph, with zeros where nothing was drawn.

local plain = {}

--- A matrix of what f() gives, element by element.
function plain.filled(n_rows, n_cols, f)
  local a = {}
  for i = 1, n_rows do
    a[i] = {}
    for j = 1, n_cols do a[i][j] = f() end
  end
  return a
end

--- The product of two dense matrices.
function plain.matmul(a, b)
  local c = {}
  for i = 1, #a do
    c[i] = {}
    for j = 1, #b[1] do
      local sum = 0
      for k = 1, #b do sum = sum + a[i][k] * b[k][j] end
      c[i][j] = sum
    end
  end
  return c
end

--- The transpose.
function plain.transpose(a)
  local t = {}
  for j = 1, #a[1] do
    t[j] = {}
    for i = 1, #a do t[j][i] = a[i][j] end
  end
  return t
end

--- The matrix of f(x, i, j) over the elements x = a[i][j] of a.
function plain.map(a, f)
  local b = {}
  for i = 1, #a do
    b[i] = {}
    for j = 1, #a[1] do b[i][j] = f(a[i][j], i, j) end
  end
  return b
end

--- The sum of the products of elements of two matrices.
function plain.dot(a, b)
  local sum = 0
  for i = 1, #a do
    for j = 1, #a[1] do sum = sum + a[i][j] * b[i][j] end
  end
  return sum
end

--- a + factor b.
function plain.add(a, b, factor)
  return plain.map(a, function(x, i, j) return x + (factor or 1) * b[i][j] end)
end

--- Z and what it is made of, for lower and upper, the matrices of the two layers, N x N:
-- H = relu(lower X W1 + b1), Z = upper H W2 + b2. net: {X =, W1 =, b1 =, W2 =, b2 =}.
function plain.forward(net, lower, upper)
  local inner = plain.map(plain.matmul(lower, plain.matmul(net.X, net.W1)),
    function(x, _, j) return x + net.b1[j] end)
  local H = plain.map(inner, function(x) return math.max(x, 0) end)
  local Z = plain.map(plain.matmul(upper, plain.matmul(H, net.W2)),
    function(x, _, j) return x + net.b2[j] end)
  return Z, H, inner
end

-- dL/dZ of the mean cross-entropy over the rows `seeds`.
local function of_logits(Z, labels, seeds)
  local d = plain.map(Z, function() return 0 end)
  for _, v in ipairs(seeds) do
    local most, sum = math.max(table.unpack(Z[v])), 0
    for _, z in ipairs(Z[v]) do sum = sum + math.exp(z - most) end
    for j, z in ipairs(Z[v]) do
      d[v][j] = (math.exp(z - most) / sum - (labels[v] == j and 1 or 0)) / #seeds
    end
  end
  return d
end

local function col_sums(a)
  local sums = {}
  for j = 1, #a[1] do
    sums[j] = 0
    for i = 1, #a do sums[j] = sums[j] + a[i][j] end
  end
  return {sums}
end

--- The gradients of the mean cross-entropy over the nodes `seeds`, by name of the parameter, as
-- matrices.
function plain.gradients(net, lower, upper, labels, seeds)
  local Z, H, inner = plain.forward(net, lower, upper)
  local dZ = of_logits(Z, labels, seeds)
  local back = plain.matmul(plain.transpose(upper), dZ)               -- dL/d(H W2)
  local dH = plain.matmul(back, plain.transpose(net.W2))
  local dInner = plain.map(dH, function(x, i, j) return inner[i][j] > 0 and x or 0 end)
  local low = plain.matmul(plain.transpose(lower), dInner)            -- dL/d(X W1)
  return {
    ["layers.1.conv.weight"] = plain.matmul(plain.transpose(net.X), low),
    ["layers.1.conv.bias"] = col_sums(dInner),
    ["layers.2.conv.weight"] = plain.matmul(plain.transpose(H), back),
    ["layers.2.conv.bias"] = col_sums(dZ),
  }
end

return plain
