-- no transaction
drop index concurrently if exists account_mails_network_idx;
