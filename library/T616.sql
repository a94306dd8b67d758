SELECT amount, day FROM dbdyno_changed WHERE id = ?
