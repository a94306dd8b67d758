SELECT dbdyno_t132(?) FROM dual
