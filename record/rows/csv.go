package rows

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// CSV writes a table with the names of its columns in the first line; what is not
// defined is an empty cell, and numbers have the digits that read back as the same
// number. Text that a spreadsheet would take for a formula gets an apostrophe before it, since
// it may come from a server. The error is that of w.
func CSV(w io.Writer, t Table) error {
	out := csv.NewWriter(w)
	record := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		record[i] = c.Name
	}
	if err := out.Write(record); err != nil {
		return err
	}
	for row := range t.Rows {
		for i, v := range row {
			record[i] = cell(v)
		}
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func cell(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		if strings.ContainsRune("=+-@\t\r", rune(v[0])) { // an empty text is nil
			return "'" + v
		}
		return v
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return fmt.Sprint(v)
}
