SELECT sum(l_extendedprice * l_discount) AS revenue
FROM lineitem
WHERE l_shipdate >= '{first_day}'
  AND l_shipdate < '{end_day}'
  AND l_discount BETWEEN {discount_from} AND {discount_to}
  AND l_quantity < {quantity}
