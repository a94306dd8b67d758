SELECT dbdyno_t155(?)
