SELECT dbdyno_t153(?)
