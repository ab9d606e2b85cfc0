-- $1 the ledger's schema, $2 a scratch schema with every file of this program: the statements that take functions out of
-- the first whose name is ours and whose signature is not, and the verbs whose file is gone.
with ours as (
    select p.oid, p.proname,
           replace(pg_get_function_identity_arguments(p.oid), quote_ident($1::text) || '.', '') as arguments,
           replace(coalesce(pg_get_function_result(p.oid), ''), quote_ident($1::text) || '.', '') as result,
           coalesce(p.proargnames, '{}') as names
      from pg_proc p where p.pronamespace = to_regnamespace(quote_ident($1::text))
), wanted as (
    select p.proname,
           replace(pg_get_function_identity_arguments(p.oid), quote_ident($2::text) || '.', '') as arguments,
           replace(coalesce(pg_get_function_result(p.oid), ''), quote_ident($2::text) || '.', '') as result,
           coalesce(p.proargnames, '{}') as names
      from pg_proc p where p.pronamespace = to_regnamespace(quote_ident($2::text))
)
select 'drop routine ' || o.oid::regprocedure
  from ours o
 where (o.proname in (select w.proname from wanted w)
        or o.proname || '.sql' in (select m.name from @schema@.migration m))
   and not exists (select from wanted w
                    where w.proname = o.proname and w.arguments = o.arguments and w.result = o.result and w.names = o.names)
 order by o.oid desc
