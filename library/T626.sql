SELECT amount, day FROM dbdyno_large WHERE id = ?
