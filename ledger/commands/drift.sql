-- $1 the ledger's schema, $2 a scratch schema into which this program has just installed everything: what differs.
-- Definitions are compared as the server prints them, with the names of the two schemas taken out. Storage options are
-- not compared: to tune fillfactor or autovacuum is everybody's right.
with sides as (
    select n.oid, n.nspname = $1::text as here from pg_namespace n where n.nspname in ($1::text, $2::text)
), items as (
    select s.here, 'table' as kind, c.relname::text as name, c.relkind::text || ' ' || c.relpersistence::text as definition
      from sides s join pg_class c on c.relnamespace = s.oid where c.relkind not in ('i', 'I', 't', 'c', 'S')
    union all
    select s.here, 'sequence', c.relname, format_type(q.seqtypid, null) || concat_ws(' ', '', q.seqincrement, q.seqcycle)
      from sides s join pg_class c on c.relnamespace = s.oid join pg_sequence q on q.seqrelid = c.oid
    union all
    select s.here, 'column', c.relname || '.' || a.attname,
           concat_ws(' ', format_type(a.atttypid, a.atttypmod), case when a.attnotnull then 'not null' end,
                     'identity ' || nullif(a.attidentity::text, ''), 'generated ' || nullif(a.attgenerated::text, ''),
                     'default ' || pg_get_expr(d.adbin, d.adrelid),
                     (select 'collate ' || o.collname from pg_collation o
                       where o.oid = a.attcollation and o.collname <> 'default'))
      from sides s join pg_class c on c.relnamespace = s.oid and c.relkind in ('r', 'p', 'v', 'm', 'f')
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
    union all
    select s.here, 'constraint', coalesce(c.relname, t.typname) || '.' || k.conname,
           pg_get_constraintdef(k.oid) || case when k.convalidated then '' else ' not valid' end
      from sides s join pg_constraint k on k.connamespace = s.oid and k.contype not in ('t', 'n')
      left join pg_class c on c.oid = k.conrelid left join pg_type t on t.oid = k.contypid
    union all
    select s.here, 'index', c.relname, pg_get_indexdef(c.oid) || case when i.indisvalid then '' else ' invalid' end
      from sides s join pg_class c on c.relnamespace = s.oid join pg_index i on i.indexrelid = c.oid
    union all
    select s.here, 'trigger', c.relname || '.' || t.tgname, pg_get_triggerdef(t.oid) || ' enabled ' || t.tgenabled::text
      from sides s join pg_class c on c.relnamespace = s.oid join pg_trigger t on t.tgrelid = c.oid and not t.tgisinternal
    union all
    select s.here, 'function', p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ')',
           case when p.prokind in ('f', 'p') then pg_get_functiondef(p.oid) else p.prokind::text end
      from sides s join pg_proc p on p.pronamespace = s.oid
    union all
    select s.here, 'type', t.typname,
           case t.typtype when 'e' then (select string_agg(e.enumlabel, ', ' order by e.enumsortorder)
                                           from pg_enum e where e.enumtypid = t.oid)
                          else concat_ws(' ', format_type(t.typbasetype, t.typtypmod), t.typdefault,
                                         case when t.typnotnull then 'not null' end) end
      from sides s join pg_type t on t.typnamespace = s.oid and t.typtype in ('e', 'd', 'r')
), plain as (
    select i.here, i.kind, x.texts[1] as name, x.texts[2] as definition
      from items i
     cross join lateral (
         select array_agg(replace(replace(replace(replace(y.text,
                    '"' || replace($1::text, '"', '""') || '"', '@'), quote_ident($1::text) || '.', '@.'),
                    '"' || replace($2::text, '"', '""') || '"', '@'), quote_ident($2::text) || '.', '@.')
                    order by y.nth) as texts
           from unnest(array[i.name, i.definition]) with ordinality as y (text, nth)) x
)
select coalesce(h.kind, w.kind) as kind, coalesce(h.name, w.name) as name,
       case when h.kind is null then 'missing' when w.kind is null then 'extra' else 'changed' end as problem
  from (select p.* from plain p where p.here) h
  full join (select p.* from plain p where not p.here) w on w.kind = h.kind and w.name = h.name
 where h.definition is distinct from w.definition or h.kind is null or w.kind is null
union all
select 'row', 'pulse', case when count(*) = 0 then 'missing' else 'extra' end from @schema@.pulse having count(*) <> 1
union all
select 'grant', c.relname || ' ' || r.privilege, 'missing'
  from sides s join pg_class c on c.relnamespace = s.oid and c.relkind = 'r'
 cross join unnest(array['select', 'insert', 'update', 'delete']) as r (privilege)
 where s.here and not has_table_privilege(c.oid, r.privilege)
union all
select 'grant', p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ') execute', 'missing'
  from sides s join pg_proc p on p.pronamespace = s.oid
 where s.here and not has_function_privilege(p.oid, 'execute')
 order by 1, 2
