package value

import "testing"

func TestParse(t *testing.T) {
	v, err := Parse([]byte(`{"b":[1,2.5,"x\u00e9\ud83d\ude00"],"a":{"z":null,"y":true},"c":""}`))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := v.String(), `{"a":{"y":true,"z":null},"b":[1,2.5,"xé😀"],"c":""}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	_, err = Parse([]byte(`{"a":[1,{"x":1,"x":2}]}`))
	if got, want := err.Error(), `invalid JSON at byte 15, in .a[1]: duplicate name "x"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
