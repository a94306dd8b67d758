SELECT dbdyno_t152(?)
