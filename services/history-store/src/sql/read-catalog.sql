select catalog as page from catalogs where digest = $1
