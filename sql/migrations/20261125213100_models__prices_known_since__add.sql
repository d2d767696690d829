-- Prices are known for longer than the service has stored the model: it comes with the past of models.dev.
alter table models add column prices_known_since timestamptz(3) not null default now();

update models set prices_known_since = created_at;
