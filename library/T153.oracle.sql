SELECT dbdyno_t153.sorted(?) FROM dual
