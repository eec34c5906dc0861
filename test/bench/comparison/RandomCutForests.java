import com.amazon.randomcutforest.parkservices.ThresholdedRandomCutForest;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A thresholded random cut forest a series, with a shingle of 8 and otherwise its defaults. Two files of little-endian
 * doubles. Read: for each series its rows, its channels (one) and the values. Written: observations for each second of
 * processor time, bytes a series (heap), and for each row a score and 1 where the anomaly grade is above 0.
 */
public class RandomCutForests {
    private static ThresholdedRandomCutForest forest() {
        return ThresholdedRandomCutForest.builder().dimensions(8).shingleSize(8).randomSeed(42).build();
    }

    public static void main(String[] args) throws Exception {
        ByteBuffer in = ByteBuffer.wrap(Files.readAllBytes(Path.of(args[0]))).order(ByteOrder.LITTLE_ENDIAN);
        ByteBuffer out = ByteBuffer.allocate(16 + 2 * in.remaining()).order(ByteOrder.LITTLE_ENDIAN);
        out.putDouble(0).putDouble(bytesOfOne());
        var system = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        long begunNanos = system.getProcessCpuTime();
        long observations = 0;
        while (in.hasRemaining()) {
            int rows = (int) in.getDouble();
            in.getDouble();
            ThresholdedRandomCutForest forest = forest();
            double last = 0;
            for (int row = 0; row < rows; row++) {
                double value = in.getDouble();
                // A value that is missing repeats.
                if (!Double.isNaN(value)) last = value;
                var result = forest.process(new double[] {last}, row * 60L);
                out.putDouble(result.getRCFScore()).putDouble(result.getAnomalyGrade() > 0 ? 1 : 0);
            }
            observations += rows;
        }
        out.putDouble(0, observations * 1e9 / Math.max(1, system.getProcessCpuTime() - begunNanos));
        out.flip();
        byte[] bytes = new byte[out.remaining()];
        out.get(bytes);
        Files.write(Path.of(args[1]), bytes);
    }

    /** Of forests that are full. */
    private static double bytesOfOne() {
        int count = 40;
        ThresholdedRandomCutForest[] forests = new ThresholdedRandomCutForest[count];
        long before = used();
        for (int i = 0; i < count; i++) {
            forests[i] = forest();
            for (int row = 0; row < 600; row++) forests[i].process(new double[] {Math.sin(row) + i}, row * 60L);
        }
        double bytes = (double) (used() - before) / count;
        return forests[count - 1] == null ? 0 : bytes;
    }

    private static long used() {
        for (int i = 0; i < 4; i++) System.gc();
        Runtime runtime = Runtime.getRuntime();
        return runtime.totalMemory() - runtime.freeMemory();
    }
}
