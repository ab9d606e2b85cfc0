-- Who hangs is tried three times, soon after one another, and then never again. A clip of which nobody knows whether it
-- was made is a question to the command (ask), which looks.
INSERT INTO endwell.queue (name, max_attempts, backoff_ms, on_doubt)
VALUES ('speech', 3, 200, 'ask'), ('decode', 3, 200, 'ask')
ON CONFLICT (name) DO UPDATE
SET max_attempts = excluded.max_attempts, backoff_ms = excluded.backoff_ms, on_doubt = excluded.on_doubt;
