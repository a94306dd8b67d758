SELECT amount, day FROM dbdyno_small WHERE id = ?
