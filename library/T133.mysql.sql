SELECT dbdyno_t133(?)
