-- What the source itself says about a model. Until now the service wrote descriptions of its own, which read like the
-- maker's, and a capability that the source does not mention was the same as one that the model lacks.
-- Processes of the release before write a description into every row, and show none as null.
-- squawk-ignore ban-drop-not-null
alter table models alter column description drop not null;

alter table models
  add column capabilities_stated text[] not null default '{}',
  add column input_tokens int constraint models_input_tokens_check check (input_tokens > 0);

-- A capability was true only if the source said so; streaming is derived.
update models
set
  description = null,
  capabilities_stated = array_remove(
    array[
      case when has_vision then 'vision' end,
      case when has_tools then 'tools' end,
      case when has_reasoning then 'reasoning' end,
      case when has_structured_output then 'structuredOutput' end,
      case when has_attachment then 'attachment' end
    ],
    null
  );

-- The next sync reads the whole document, even if it has not changed.
update catalog_syncs set etag = null where etag is not null;
