SELECT dbdyno_t132(?)
