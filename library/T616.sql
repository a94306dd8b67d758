SELECT amount, day FROM dbdyno_oltp WHERE id = ?
