package history

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
)

// Recording is the history of one kind's object as the reference answered it.
type Recording struct {
	Name    string   `json:"name"`
	Group   string   `json:"group"`
	Version string   `json:"version"`
	Kind    string   `json:"kind"`
	Records []Record `json:"records"`
}

// Pack encodes recordings as compressed JSON, one a line. Equal recordings give equal bytes.
func Pack(recordings []Recording) ([]byte, error) {
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	lines := json.NewEncoder(w)
	for _, r := range recordings {
		if err := lines.Encode(r); err != nil {
			return nil, err
		}
	}
	err = w.Close()
	return packed.Bytes(), err
}

// Unpack decodes what Pack encoded.
func Unpack(packed []byte) ([]Recording, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	var recordings []Recording
	for lines := json.NewDecoder(r); ; {
		var recording Recording
		if err := lines.Decode(&recording); err == io.EOF {
			return recordings, nil
		} else if err != nil {
			return nil, err
		}
		recordings = append(recordings, recording)
	}
}
