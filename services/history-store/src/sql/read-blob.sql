select media_type as "mediaType", bytes from blobs where digest = $1
