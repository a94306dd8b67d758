SELECT count(*), sum(amount), sum(length(label)), sum(length(pad)) FROM dbdyno_small
