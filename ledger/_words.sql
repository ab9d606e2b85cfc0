-- What comes in as text is made fit to be kept. Private.
--
-- _text cuts what people read at 4,000 characters. (PostgreSQL itself takes no NUL in a text; a client puts U+FFFD in
-- its place before it sends.)
--
-- _key does the same for what is looked up. An entry of a b-tree holds about 2,700 bytes, and what does not compress
-- would be refused; so a long key is kept as its beginning and a hash of the whole: equal stays equal, different
-- stays different.

create or replace function @schema@._text(words text) returns text
language sql immutable parallel safe as $$
    select left(words, 4000)
$$;

create or replace function @schema@._key(words text) returns text
language sql immutable parallel safe as $$
    select case when octet_length(@schema@._text(words)) <= 2000 then @schema@._text(words)
                else left(words, 400) || '#' || md5(@schema@._text(words)) end
$$;
