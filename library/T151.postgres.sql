SELECT dbdyno_t151(?)
