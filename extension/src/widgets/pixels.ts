/** Squares on a canvas: as large as they fit, separated by thin lines, with a frame around one of them. */
import { IPalette } from './palette';

const MIN_GAP_SIDE = 8; // pixels of a square's side from which lines separate squares

/** Paints an image on a canvas, `side` pixels to a square; without a context (a test's DOM) nothing. */
export function enlarge(
  canvas: HTMLCanvasElement,
  [rows, cols]: [number, number],
  side: number,
  paint: (pixels: Uint8ClampedArray) => void,
  { grid }: IPalette
): CanvasRenderingContext2D | null {
  canvas.width = cols * side;
  canvas.height = rows * side;
  const pen = canvas.getContext('2d');
  if (!pen) {
    return null; // the table beside it has the same content
  }
  const image = pen.createImageData(cols, rows);
  paint(image.data);
  pen.putImageData(image, 0, 0);
  pen.imageSmoothingEnabled = false;
  pen.globalCompositeOperation = 'copy'; // onto itself: enlarges the small picture in the corner
  pen.drawImage(canvas, 0, 0, cols, rows, 0, 0, canvas.width, canvas.height);
  pen.globalCompositeOperation = 'source-over';
  if (side >= MIN_GAP_SIDE) {
    pen.fillStyle = grid;
    for (let r = 1; r < rows; r++) {
      pen.fillRect(0, r * side - 1, canvas.width, 1);
    }
    for (let c = 1; c < cols; c++) {
      pen.fillRect(c * side - 1, 0, 1, canvas.height);
    }
  }
  return pen;
}

/** A frame around part of a canvas, in two colours so that it stands out on any ground. */
export function outline(
  pen: CanvasRenderingContext2D,
  [x, y, width, height]: [number, number, number, number],
  { ink, ground }: IPalette
): void {
  for (const [paint, wide] of [
    [ground, 4],
    [ink, 2]
  ] as const) {
    pen.strokeStyle = paint;
    pen.lineWidth = wide;
    pen.strokeRect(x + 1, y + 1, Math.max(width - 2, 2), Math.max(height - 2, 2));
  }
}

const FADED = 0.72; // of the ground, over squares that are not lit
const MIN_EDGE_SIDE = 4; // pixels of a square's side from which an edge fits round it

/** Fades all squares but the lit ones, and draws an edge round these. */
export function spotlight(
  pen: CanvasRenderingContext2D,
  [rows, cols]: [number, number],
  side: number,
  lit: (row: number, col: number) => boolean,
  { ink, ground }: IPalette
): void {
  const isLit = (r: number, c: number): boolean => r >= 0 && c >= 0 && r < rows && c < cols && lit(r, c);
  for (let r = 0; r < rows; r++) {
    for (let c = 0; c < cols; c++) {
      const [x, y] = [c * side, r * side];
      if (!isLit(r, c)) {
        pen.globalAlpha = FADED;
        pen.fillStyle = ground;
        pen.fillRect(x, y, side, side);
      } else if (side >= MIN_EDGE_SIDE) {
        pen.globalAlpha = 1;
        pen.fillStyle = ink;
        const edges: [boolean, number, number, number, number][] = [
          [isLit(r - 1, c), x, y, side, 2],
          [isLit(r + 1, c), x, y + side - 2, side, 2],
          [isLit(r, c - 1), x, y, 2, side],
          [isLit(r, c + 1), x + side - 2, y, 2, side]
        ];
        edges.filter(([isInner]) => !isInner).forEach(([, ...edge]) => pen.fillRect(...edge));
      }
    }
  }
  pen.globalAlpha = 1;
}
