SELECT dbdyno_t154(?)
