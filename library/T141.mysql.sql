SELECT dbdyno_t141(?)
